"""Runs the program in the README, so that what a reader copies works."""

from __future__ import annotations

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()], patterns=["README.md"], excludes=["*/README.md"], path="."
).pytest()
