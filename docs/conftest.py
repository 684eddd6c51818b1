"""Runs the Python in the documentation, so that what a reader copies works."""

from __future__ import annotations

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_collect_file = Sybil(parsers=[PythonCodeBlockParser(future_imports=["annotations"])], patterns=["*.md"]).pytest()
