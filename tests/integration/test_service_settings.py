from __future__ import annotations

import pytest

from crosspipe.errors import OptionError
from crosspipe.search.options import usable_cores
from crosspipe_service.settings import PREFIX, Settings, settings_from, settings_table


def test_defaults_are_safe() -> None:
    settings = settings_from({})
    assert settings == Settings()
    assert settings.host == "127.0.0.1"
    assert settings.port == 8000
    assert settings.max_body_bytes == 2 * 1024 * 1024
    assert settings.default_time_limit_s == 10
    assert settings.max_time_limit_s == 60
    assert settings.max_concurrent_solves == max(1, usable_cores() - 1)


def test_variables_win_over_defaults_and_arguments_over_variables() -> None:
    environment = {"CROSSPIPE_PORT": "9000", "CROSSPIPE_HOST": "192.0.2.1", "CROSSPIPE_MAX_QUEUED_SOLVES": "0"}
    settings = settings_from(environment, port=9001, host=None)
    assert (settings.host, settings.port, settings.max_queued_solves) == ("192.0.2.1", 9001, 0)


def test_an_empty_variable_counts_as_unset() -> None:
    assert settings_from({"CROSSPIPE_MAX_TIME_LIMIT_S": ""}) == Settings()


def test_the_default_time_limit_is_not_above_the_largest() -> None:
    assert settings_from({"CROSSPIPE_MAX_TIME_LIMIT_S": "5"}).default_time_limit_s == 5
    with pytest.raises(OptionError) as caught:
        settings_from({"CROSSPIPE_MAX_TIME_LIMIT_S": "5", "CROSSPIPE_DEFAULT_TIME_LIMIT_S": "6"})
    (fault,) = caught.value.faults
    assert (fault.pointer, fault.value, fault.nearest) == ("/CROSSPIPE_DEFAULT_TIME_LIMIT_S", "6", "5")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PORT", "65536"),
        ("PORT", "http"),
        ("MAX_BODY_BYTES", "0"),
        ("MAX_TIME_LIMIT_S", "0"),
        ("MAX_TIME_LIMIT_S", "nan"),
        ("MAX_CONCURRENT_SOLVES", "0"),
        ("MAX_QUEUED_SOLVES", "-1"),
        ("LOG_LEVEL", "loud"),
    ],
)
def test_a_bad_variable_is_named(variable: str, value: str) -> None:
    with pytest.raises(OptionError) as caught:
        settings_from({PREFIX + variable: value})
    (fault,) = caught.value.faults
    assert fault.pointer == f"/{PREFIX}{variable}"
    assert fault.value == value


def test_all_bad_variables_are_named_at_once() -> None:
    with pytest.raises(OptionError) as caught:
        settings_from({"CROSSPIPE_PORT": "x", "CROSSPIPE_LOG_LEVEL": "y"})
    assert {fault.pointer for fault in caught.value.faults} == {"/CROSSPIPE_PORT", "/CROSSPIPE_LOG_LEVEL"}


def test_the_table_has_every_setting() -> None:
    table = settings_table()
    for name in Settings.model_fields:
        assert f"`{PREFIX}{name.upper()}`" in table
    assert "None" not in table
