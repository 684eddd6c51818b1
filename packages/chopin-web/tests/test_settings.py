"""The settings: all that is wrong at once, nothing secret shown, no connection made."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chopin_web.settings import SettingsRefused, load_settings

GOOD = {"DATABASE_URL": "postgres://u:hunter2@db/chopin", "APP_ORIGIN": "https://chopin.example"}


def refused(environment: dict[str, str]) -> str:
    with pytest.raises(SettingsRefused) as refusal:
        load_settings(environment)
    return str(refusal.value)


def test_good_settings_are_read() -> None:
    settings = load_settings({**GOOD, "PORT": "9000", "STORAGE_DRIVER": "postgres"})
    assert (settings.origin, settings.host, settings.port) == ("https://chopin.example", "127.0.0.1", 9000)


@pytest.mark.parametrize(("given", "days"), [({}, 30), *(({"IDEMPOTENCY_DAYS": str(days)}, days) for days in (1, 3650))])
def test_operations_are_known_for_thirty_days_unless_the_operator_says_otherwise(given: dict[str, str], days: int) -> None:
    assert load_settings({**GOOD, **given}).idempotency_window == timedelta(days=days)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STORAGE_DRIVER", "sqlite"),
        ("STORAGE_DRIVER", ""),
        ("DYNAMODB_TABLE", ""),
        ("REPORT_STORE_BACKEND", "sql"),
        ("CHAT_CHECKPOINT_BACKEND", ""),
        ("CHAT_CHECKPOINT_DYNAMODB_TABLE", "x"),
        ("SQLITE_PATH", "x"),
        ("DATABASE_URL", "mysql://u:hunter2@db/x"),
        ("DATABASE_URL", "sqlite:///x"),
        ("DATABASE_URL", ""),
        ("APP_ORIGIN", "https://chopin.example/"),
        ("APP_ORIGIN", "https://u:p@chopin.example"),
        ("APP_ORIGIN", "http://chopin.example"),
        ("APP_ORIGIN", "https://Chopin.example"),
        ("APP_ORIGIN", "https://chopin.example?x"),
        ("APP_ORIGIN", "chopin.example"),
        ("APP_ORIGIN", "https://chopin.example:99999"),
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "80 "),
        ("PORT", "9" * 5000),
        ("IDEMPOTENCY_DAYS", ""),
        ("IDEMPOTENCY_DAYS", "0"),
        ("IDEMPOTENCY_DAYS", "3651"),
        ("IDEMPOTENCY_DAYS", "-1"),
        ("IDEMPOTENCY_DAYS", "1.5"),
        ("IDEMPOTENCY_DAYS", "٣"),
        ("IDEMPOTENCY_DAYS", "30 days"),
        ("IDEMPOTENCY_DAYS", "9" * 5000),
        ("AUTH_MODE", "none"),
    ],
)
def test_each_wrong_or_removed_setting_is_named_even_when_it_is_empty(name: str, value: str) -> None:
    assert name in refused({**GOOD, name: value})


def test_all_offenders_are_named_together_and_no_value_is_shown() -> None:
    wrong = {
        "DATABASE_URL": "mysql://u:hunter2@db/x",
        "STORAGE_DRIVER": "dynamodb",
        "DYNAMODB_TABLE": "hunter2",
        "SQLITE_PATH": "hunter2",
        "PORT": "hunter2",
    }
    said = refused(wrong)
    assert all(name in said for name in wrong)
    assert "hunter2" not in said


def test_the_local_mode_is_offered_on_loopback_only() -> None:
    local = {"DATABASE_URL": GOOD["DATABASE_URL"], "AUTH_MODE": "local"}
    assert load_settings(local).origin == "http://127.0.0.1:8787"
    assert "loopback" in refused({**local, "SERVER_HOST": "0.0.0.0", "APP_ORIGIN": "http://127.0.0.1:8787"})
    assert "loopback" in refused({**local, "APP_ORIGIN": "https://chopin.example"})


def test_the_database_url_does_not_show() -> None:
    assert "hunter2" not in repr(load_settings(GOOD))
