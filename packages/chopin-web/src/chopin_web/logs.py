"""Structured log lines: names, numbers and codes; never prose, tokens or addresses with credentials."""

from __future__ import annotations

import logging
import sys

import structlog


def configure_logs(*, machine: bool) -> None:
    """Lines for a terminal, or with ``machine`` one JSON object a line; to standard error either way."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if machine
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # Without the values of local variables: those hold prose and secrets.
            structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))
            if machine
            else structlog.processors.StackInfoRenderer(),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    # Libraries that log through the standard module: warnings and worse, without their own handlers.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
