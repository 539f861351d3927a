# Every target works on a fresh clone with Python 3.11+ and make alone: it builds .venv first, once.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
PYTEST_FLAGS ?= -n auto
PORT ?= 8000
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help run test test-all lint format bench openapi clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 16

run: $(VENV)/service.stamp $(VENV)/kernels.stamp ## Start the service, solve an example, print the answer; ONCE=1 ends after it
	@CROSSPIPE_PORT=$${CROSSPIPE_PORT:-$(PORT)} $(BIN)/python -m crosspipe_service.demo $(if $(ONCE),--once)

test: $(VENV)/dev.stamp $(VENV)/kernels.stamp ## Run the tests
	$(BIN)/pytest -q $(PYTEST_FLAGS)

test-all: $(VENV)/dev.stamp $(VENV)/kernels.stamp ## Run the tests and the slow ones
	$(BIN)/pytest -q $(PYTEST_FLAGS) -m 'slow or not slow'

lint: $(VENV)/dev.stamp ## Lint, check formatting, types, imports between rooms, Dockerfile and Compose file
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	@if [ -x $(BIN)/hadolint ]; then set -x; $(BIN)/hadolint Dockerfile; \
	else echo 'hadolint: no build for this platform on the package index; Dockerfile not linted'; fi
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml
	$(BIN)/compose-lint check --quiet --fail-on low docker-compose.yml

format: $(VENV)/dev.stamp ## Format the code and sort its imports
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: $(VENV)/dev.stamp ## Run the benchmarks, for hours; BENCH=--quick for five minutes
	$(BIN)/python -m bench $(BENCH)

openapi: $(VENV)/dev.stamp ## Export openapi/openapi.json from the service
	$(BIN)/python -m crosspipe_service.openapi --write openapi/openapi.json

clean: ## Remove .venv and the caches of the tools
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist

$(VENV)/bin/python:
	@if [ -z '$(PYTHON)' ]; then \
	echo 'CrossPipe needs Python 3.11 or newer with venv and pip (tried python3, python3.14 to python3.11);' \
	'name one by: make PYTHON=/path/to/python3' >&2; exit 1; fi
	@echo 'Making $(VENV) with $(PYTHON)'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/service.stamp: pyproject.toml | $(VENV)/bin/python
	@echo 'Installing CrossPipe and its service into $(VENV)'
	@$(INSTALL) --editable '.[service]'
	@touch $@

$(VENV)/kernels.stamp: $(wildcard solver/crosspipe/lattice/*.py) | $(VENV)/service.stamp
	@echo 'Compiling the search kernels, once'
	@$(BIN)/python -m crosspipe.lattice.warm
	@touch $@

$(VENV)/dev.stamp: pyproject.toml | $(VENV)/bin/python
	@echo 'Installing CrossPipe and its development tools into $(VENV)'
	@$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/service.stamp $@
