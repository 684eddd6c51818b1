"""Domain errors as HTTP answers, in one table; what it does not know is a crash and stays one."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from chopin_core.errors import ChopinError, Conflict, Corrupt, Invalid, Missing, Unavailable

STATUS: Mapping[type[BaseException], int] = {Invalid: 400, Missing: 404, Conflict: 409, Unavailable: 503, Corrupt: 500}

_log = structlog.get_logger("chopin.http")


def status_of(error: BaseException) -> int | None:
    """The status for an error of ours, None for one the table does not know."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), None)


def sentence_of(error: ChopinError) -> str:
    """What a person may read. What is wrong inside storage is for the log alone."""
    match error:
        case Missing():
            return "Not found"
        case Unavailable():
            return "Temporarily unavailable; please try again"
        case Corrupt():
            return "This document cannot be opened"
        case _:
            return str(error)


def answer(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=status)


async def domain_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ChopinError)
    status = status_of(error)
    if status is None:
        raise error
    if status >= 500:
        _log.error("request failed", path=request.url.path, error=type(error).__name__, detail=str(error))
    return answer(status, sentence_of(error))


async def http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, status_code=error.status_code, headers=error.headers)


async def crash(request: Request, error: Exception) -> JSONResponse:
    _log.error("request crashed", path=request.url.path, error=type(error).__name__, exc_info=error)
    return answer(500, "Internal error")
