"""
The suite runs on a stranger's adapter, and turns red whenever one skips or is spared a test.

That it turns red on broken promises is for ``test_mutants.py``.
"""

from __future__ import annotations

import importlib

import pytest

from chopin_contract_tests import plugin
from chopin_core.ports.storage import Storage

pytest_plugins = ["pytester"]

MINE = """
from contextlib import asynccontextmanager, contextmanager
from chopin_contract_tests.memory import MemoryDatabase

class Mine:
    name = "mine 1.0"

    @asynccontextmanager
    async def fresh(self):
        yield MemoryDatabase()

@contextmanager
def open_adapter():
    yield Mine()
"""

SKIPPING = """
import pytest

def open_adapter():
    pytest.skip("no server here")
"""

BROKEN = """
def open_adapter():
    raise OSError("no server here")
"""

MEMORY = "--adapter=chopin_contract_tests.memory:open_adapter"

STRICT = ("-p", "no:cacheprovider", "-W", "error", "-W", "ignore::pytest.PytestDeprecationWarning")
"""Warnings are errors, but for the one that pytest-asyncio gives wherever its loop scope is not configured."""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A stranger's folder, with nothing configured, importable for the runs made in it."""
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    return pytester


def suite(run: pytest.Pytester, *given: str) -> pytest.RunResult:
    return run.runpytest_subprocess(*STRICT, "--pyargs", "chopin_contract_tests", *given)


def test_a_strangers_adapter_is_run_by_its_place(run: pytest.Pytester) -> None:
    run.makepyfile(mine=MINE)

    result = suite(run, "--adapter=mine:open_adapter", "-k", "test_users or test_fence")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.re_match_lines([r"=* storage contract =*", r"mine 1\.0: \d\d passed, 0 skipped"])


def test_several_adapters_run_the_same_tests(run: pytest.Pytester) -> None:
    run.makepyfile(mine=MINE)

    result = suite(run, "--adapter=mine:open_adapter", MEMORY, "-k", "test_users")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["mine 1.0: 9 passed, 0 skipped", "memory: 9 passed, 0 skipped"])


def test_what_passed_is_counted_for_each_store_and_adapter(run: pytest.Pytester) -> None:
    run.makepyfile(mine=MINE)

    result = suite(run, "--adapter=mine:open_adapter", MEMORY, "-k", "test_users or test_images and not (memory and unknown)")

    assert result.ret == pytest.ExitCode.TESTS_FAILED  # the memory adapter was spared some
    said = [line.split() for line in result.stdout.lines]
    row = said.index(["mine", "1.0", "memory"])
    counts = {store: (int(mine), int(memory)) for store, mine, memory in said[row + 1 : row + 3]}
    assert counts.keys() == {"images", "users"}
    assert counts["users"] == (9, 9)
    assert counts["images"][0] > counts["images"][1] > 0
    totals = [sum(column) for column in zip(*counts.values(), strict=True)]
    assert [int(line[-4]) for line in said[row + 3 : row + 5]] == totals


def test_every_module_of_the_suite_states_a_store_of_the_port() -> None:
    modules = [importlib.import_module(f"{plugin.__package__}.{path.stem}") for path in plugin.SUITE.glob("test_*.py")]
    properties = {name for name, value in vars(Storage).items() if isinstance(value, property)}

    assert {module.STORE for module in modules} == properties | {"storage"}


def test_a_contract_test_that_states_no_store_stops_the_run(run: pytest.Pytester) -> None:
    run.makeconftest(
        """
        from pathlib import Path
        from chopin_contract_tests import plugin

        plugin.SUITE = Path(__file__).parent
        """
    )
    run.makepyfile("def test_nothing(adapter): pass")

    result = run.runpytest_subprocess(*STRICT, MEMORY)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_nothing?memory? does not state its store (STORE = …), so nobody would count it"])


def test_memory_and_every_registered_adapter_run_by_default(run: pytest.Pytester) -> None:
    run.makepyfile(mine=MINE)
    metadata = run.mkdir("mine-1.0.dist-info")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[chopin.contract_adapters]\nregistered = mine:open_adapter\n")

    result = suite(run, "--collect-only", "-q", "-k", "unknown_person")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines_random(
        ["*test_an_unknown_person_is_none?memory?", "*test_an_unknown_person_is_none?registered?"]
    )


def test_an_adapter_that_is_spared_a_test_fails_the_run(run: pytest.Pytester) -> None:
    run.makepyfile(mine=MINE)

    result = suite(run, "--adapter=mine:open_adapter", MEMORY, "-k", "test_users and not (memory and unknown)")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["mine 1.0: 9 passed, 0 skipped", "memory: 8 passed, 0 skipped", "FAILED: the adapters did not run the same number*"]
    )


def test_an_adapter_that_skips_fails_the_run(run: pytest.Pytester) -> None:
    run.makepyfile(skipping=SKIPPING)

    result = suite(run, "--adapter=skipping:open_adapter", "-k", "test_users")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["skipping:open_adapter: 0 passed, 9 skipped", "FAILED: a contract test was skipped"])


@pytest.mark.parametrize("place", ["broken:open_adapter", "nowhere:open_adapter"])
def test_an_adapter_that_cannot_be_opened_fails_the_run(run: pytest.Pytester, place: str) -> None:
    run.makepyfile(broken=BROKEN)

    result = suite(run, f"--adapter={place}", "-k", "unknown_person")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{place}: 0 passed, 0 skipped, 1 failed"])


@pytest.mark.parametrize("place", ["mine.open_adapter", "mine:"])
def test_a_place_that_is_none_is_a_usage_error(run: pytest.Pytester, place: str) -> None:
    result = suite(run, f"--adapter={place}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--adapter {place}: expected MODULE:NAME"])


def test_a_contract_test_that_avoids_the_adapters_stops_the_run(run: pytest.Pytester) -> None:
    run.makeconftest(
        """
        from pathlib import Path
        from chopin_contract_tests import plugin

        plugin.SUITE = Path(__file__).parent
        """
    )
    run.makepyfile("def test_nothing(): pass")

    result = run.runpytest_subprocess(*STRICT)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_nothing does not run on the adapters, so it is no contract test"])


def test_the_suite_runs_beside_other_tests(run: pytest.Pytester) -> None:
    run.mkpydir("theirs").joinpath("test_theirs.py").write_text("def test_theirs(): pass")
    run.path.joinpath("theirs", "conftest.py").write_text("")

    result = suite(run, "theirs", MEMORY, "-k", "test_theirs or an_unknown_person_is_none")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["memory: 1 passed, 0 skipped"])


def test_other_peoples_tests_do_not_notice_the_plugin(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        import sys
        import pytest

        @pytest.fixture
        def adapter(): return "theirs"

        def test_theirs(adapter): assert adapter == "theirs"
        def test_light(): assert "chopin_core" not in sys.modules
        def test_no_fixture_leaks(request):
            for name in ("database", "connect", "storage", "channel", "lease"):
                with pytest.raises(pytest.FixtureLookupError):
                    request.getfixturevalue(name)
        @pytest.mark.skip(reason="theirs to skip")
        def test_skipped(): ...
        """
    )

    result = run.runpytest_subprocess(*STRICT)

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=3, skipped=1)
    assert "storage contract" not in result.stdout.str()
