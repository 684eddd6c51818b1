"""What a local installation keeps secret, in a file that only its owner may read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import attrs


@attrs.frozen(kw_only=True, repr=False)
class LocalSecrets:
    """The token people sign in with and agents send, and the key that signs cookies."""

    token: str
    cookie_key: str


def keep_secrets(directory: Path) -> LocalSecrets:
    """The secrets of a data directory; made on the first call, the same ever after."""
    return LocalSecrets(token=_kept(directory / "token"), cookie_key=_kept(directory / "cookie-key"))


def read_token(directory: Path) -> str | None:
    """The token of a data directory, or None if it never served."""
    try:
        return (directory / "token").read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None


def _kept(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        secret = secrets.token_urlsafe(32)
        file.write(secret + "\n")
        return secret
