"""
What a call comes back with: an answer or a refusal, the same facts as text and as structure.

Clients show a model one of the two and not the other, so neither may hold less. A refusal says what to do next:
``{code, message, retry}`` and, where they apply, ``current_revision`` and ``issues`` (with ``issues_left_out`` when there
are more than anybody would read).
"""

from __future__ import annotations

import enum
import json
import logging
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import attrs
from mcp.types import CallToolResult, TextContent

from chopin_core.errors import (
    ChannelArchived,
    ChannelMissing,
    IdempotencyConflict,
    Invalid,
    InvalidField,
    ProjectionProtected,
    SourceRefused,
    StalePlan,
    TitleTaken,
    Unavailable,
    UpdateRefused,
)
from chopin_mcp.arguments import ArgumentsRefused
from chopin_mcp.locator import DocumentUnavailable, RepositoryForbidden

logger = logging.getLogger(__name__)

Facts: TypeAlias = dict[str, Any]

SHOWN_ISSUES: Final = 50


class Retry(enum.StrEnum):
    """What may be tried next."""

    SAME_KEY = "same_key"
    """The very same call, with the same idempotency key if it has one."""
    NEW_KEY = "new_key"
    """A corrected call, with a new idempotency key if it needs one."""
    REREAD = "reread"
    """Read the document again, then a call built on what it says now, with a new key."""
    NEVER = "never"
    """Nothing the agent can do; a person has to."""


@attrs.frozen
class Refusal:
    """A code for programs, a sentence for the model, and what to try next."""

    code: str
    message: str
    retry: Retry


UNAVAILABLE = Refusal(
    "document-unavailable",
    "No document that you may see is found there. Give an id, a path /documents/OWNER/REPOSITORY/SLUG or a URL of this "
    "server; list_documents tells what there is.",
    Retry.NEVER,
)

REFUSALS: Mapping[type[Exception], Refusal] = {
    ChannelArchived: Refusal(
        "document-archived", "The document is archived: it can be read but not changed until a person restores it.", Retry.NEVER
    ),
    ChannelMissing: UNAVAILABLE,
    DocumentUnavailable: UNAVAILABLE,
    IdempotencyConflict: Refusal(
        "idempotency-conflict",
        "This idempotencyKey was used before with other arguments. Nothing was changed; use a new key for a new request.",
        Retry.NEW_KEY,
    ),
    Invalid: Refusal(
        "invalid-arguments", "The arguments are refused and nothing was changed; correct what issues names.", Retry.NEW_KEY
    ),
    ProjectionProtected: Refusal(
        "protected-projection",
        "Questionnaire, Decision and Research blocks stand for records that people answer. Keep each of them exactly as "
        "read_document gives it, and add none.",
        Retry.REREAD,
    ),
    RepositoryForbidden: Refusal(
        "repository-forbidden",
        "There is no such repository, or you lack the right: reading needs pull access, writing needs push access.",
        Retry.NEVER,
    ),
    SourceRefused: Refusal(
        "invalid-source",
        "The text is not a valid document and nothing was changed; correct what issues names.",
        Retry.NEW_KEY,
    ),
    StalePlan: Refusal(
        "revision-conflict",
        "The document changed since the revision you gave, and nothing was written. Read it again, keep what others wrote, "
        "and update with the new revision.",
        Retry.REREAD,
    ),
    TitleTaken: Refusal(
        "title-conflict",
        "Another document of this repository has that title. Update that one, or choose another title.",
        Retry.NEW_KEY,
    ),
    Unavailable: Refusal(
        "unavailable",
        "The server cannot do this right now. Wait a little and repeat the very same call: it is done once, however often "
        "it is repeated with the same idempotencyKey.",
        Retry.SAME_KEY,
    ),
}

CRASH = Refusal(
    "internal-error",
    "The server failed and has logged why. Whether the change was kept is not known; repeating the very same call with the "
    "same idempotencyKey is safe.",
    Retry.SAME_KEY,
)


def answered(facts: Mapping[str, Any]) -> CallToolResult:
    """A tool's answer."""
    return _result(facts, is_error=False)


def refused(error: Exception, tool: str) -> CallToolResult:
    """The refusal an exception stands for. What the table does not know is a crash: logged, and answered without its text."""
    refusal = next((REFUSALS[cls] for cls in type(error).__mro__ if cls in REFUSALS), None)
    if refusal is None:
        logger.error("tool %s crashed", tool, exc_info=error)
        refusal = CRASH
    facts = {"code": refusal.code, "message": refusal.message, "retry": refusal.retry.value, **_details(error)}
    return _result(facts, is_error=True)


def _details(error: Exception) -> Facts:
    match error:
        case StalePlan():
            return {"current_revision": error.actual}
        case SourceRefused() | ArgumentsRefused():
            return _issues([attrs.asdict(issue, filter=lambda _, value: value is not None) for issue in error.issues])
        case InvalidField():
            return _issues([{"code": "invalid", "message": error.reason, "path": error.field}])
        case UpdateRefused():
            return _issues([{"code": error.reason, "message": str(error), "path": "plan"}])
        case _:
            return {}


def _issues(issues: list[Facts]) -> Facts:
    left_out = len(issues) - SHOWN_ISSUES
    return {"issues": issues[:SHOWN_ISSUES], **({"issues_left_out": left_out} if left_out > 0 else {})}


def _result(facts: Mapping[str, Any], *, is_error: bool) -> CallToolResult:
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(facts), is_error=is_error)
