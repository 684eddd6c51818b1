"""The engines: a test that takes ``engine`` is part of the contract, and runs on each of them."""

from __future__ import annotations

import pytest
from hypothesis import settings

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.ypy import YpyEngine
from chopin_core.ports.documents import DocumentEngine

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(params=[PycrdtEngine(), YpyEngine()], ids=["pycrdt", "y-py"], scope="session")
def engine(request: pytest.FixtureRequest) -> DocumentEngine:
    """Makes replicas and keeps none, so all tests may share it."""
    made: DocumentEngine = request.param
    return made


@pytest.fixture(scope="session")
def pycrdt() -> PycrdtEngine:
    """The engine that promises more than the contract asks."""
    return PycrdtEngine()
