"""The settings of ``chopin serve``: read once from the environment, checked whole, and refused with all offenders named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import urlsplit

import attrs
import environ

from chopin_core.errors import InvalidField
from chopin_core.retention import Retention

LOOPBACK = ("127.0.0.1", "::1", "localhost")

MOST_DAYS = 3650

_REMOVED_PREFIXES = ("DYNAMODB_", "SQLITE_", "CHAT_CHECKPOINT_")
_REMOVED = ("REPORT_STORE_BACKEND",)


@environ.config(prefix="", frozen=True)
class _Raw:
    database_url = environ.var(name="DATABASE_URL", default="")
    app_origin = environ.var(name="APP_ORIGIN", default="")
    server_host = environ.var(name="SERVER_HOST", default="127.0.0.1")
    port = environ.var(name="PORT", default="8787")
    auth_mode = environ.var(name="AUTH_MODE", default="hosted")
    idempotency_days = environ.var(name="IDEMPOTENCY_DAYS", default=str(Retention().window.days))


@attrs.frozen(kw_only=True)
class Settings:
    """What an operator decides. ``database_url`` never shows in a repr, a log or an error."""

    database_url: str = attrs.field(repr=False)
    origin: str
    host: str
    port: int
    auth_mode: str
    idempotency_window: timedelta


class SettingsRefused(InvalidField):
    """One or more settings cannot be used; no connection was made."""


def load_settings(environment: Mapping[str, str]) -> Settings:
    """
    The settings in an environment.

    Raises:
        SettingsRefused: something is missing, wrong or removed; all of it is named, no value is shown.
    """
    raw = environ.to_config(_Raw, environ=dict(environment))
    faults = [*removed_settings(environment), *_database_faults(raw.database_url)]
    port = _whole(raw.port)
    if not 1 <= port <= 65_535:
        faults.append("PORT must be 1 to 65535")
    days = _whole(raw.idempotency_days)
    if not 1 <= days <= MOST_DAYS:
        faults.append(f"IDEMPOTENCY_DAYS must be a whole number of days, 1 to {MOST_DAYS}")
    origin = raw.app_origin or f"http://{raw.server_host}:{raw.port}"
    faults += _origin_faults(origin)
    if raw.auth_mode not in ("hosted", "local"):
        faults.append("AUTH_MODE must be hosted or local")
    if raw.auth_mode == "local" and not {raw.server_host, urlsplit(origin).hostname} <= set(LOOPBACK):
        faults.append("AUTH_MODE=local needs SERVER_HOST and APP_ORIGIN on loopback")
    if faults:
        raise SettingsRefused("settings", "cannot be used: " + "; ".join(faults))
    return Settings(
        database_url=raw.database_url,
        origin=origin,
        host=raw.server_host,
        port=port,
        auth_mode=raw.auth_mode,
        idempotency_window=timedelta(days=days),
    )


def removed_settings(environment: Mapping[str, str]) -> list[str]:
    """
    A sentence for each setting that is no longer heard. Being present counts, even empty.

    Ignoring one could make an upgraded server take traffic on an empty database (seeds/report-store.md, STO-005).
    """
    faults = []
    driver = environment.get("STORAGE_DRIVER")
    if driver is not None and driver != "postgres":
        faults.append("STORAGE_DRIVER must be postgres or absent")
    faults += [f"{name} was removed" for name in sorted(environment) if name in _REMOVED or name.startswith(_REMOVED_PREFIXES)]
    return faults


def _whole(text: str) -> int:
    """The number that some digits stand for, or 0, which no setting takes; more digits than any setting needs are none."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 0


def _database_faults(url: str) -> list[str]:
    if not url:
        return ["DATABASE_URL is missing"]
    if url.partition("://")[0] not in ("postgres", "postgresql"):
        return ["DATABASE_URL must begin with postgres:// or postgresql://"]
    return []


def _origin_faults(origin: str) -> list[str]:
    split = urlsplit(origin)
    try:
        exact = f"{split.scheme}://{split.netloc}" == origin and split.hostname and split.username is None
        port_fits = split.port != 0
    except ValueError:
        exact = port_fits = False
    if not (exact and port_fits and split.scheme in ("http", "https") and origin == origin.lower()):
        return ["APP_ORIGIN must be a lower-case scheme, host and optional port, nothing more"]
    if split.scheme == "http" and split.hostname not in LOOPBACK:
        return ["APP_ORIGIN must be https unless its host is loopback"]
    return []
