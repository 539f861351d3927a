FROM python:3.13-slim-bookworm AS build
WORKDIR /source
RUN python -m venv /opt/crosspipe
COPY pyproject.toml README.md LICENSE ./
COPY solver solver
COPY service service
RUN /opt/crosspipe/bin/pip install --no-cache-dir '.[service]' \
    && /opt/crosspipe/bin/pip uninstall --yes pip \
    && NUMBA_CACHE_DIR=/opt/crosspipe/kernels /opt/crosspipe/bin/python -m crosspipe.lattice.warm

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="CrossPipe" \
    org.opencontainers.image.description="Certified pipeline-parallel schedules for training across datacenters" \
    org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin crosspipe
COPY --from=build /opt/crosspipe /opt/crosspipe
ENV PATH=/opt/crosspipe/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    CROSSPIPE_KERNELS=/opt/crosspipe/kernels \
    CROSSPIPE_HOST=0.0.0.0 \
    CROSSPIPE_PORT=8000
USER 10001
WORKDIR /tmp
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-m", "crosspipe_service.health.probe"]
ENTRYPOINT ["python", "-m", "crosspipe_service"]
