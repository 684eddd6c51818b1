"""The pytest plugin around the suite: the ``--adapter`` option, the guard that every adapter runs every test, the counts."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import attrs
import pytest

from chopin_contract_tests.adapters import GROUP, OpenAdapter

SUITE: Final = Path(__file__).parent
MEMORY: Final = "chopin_contract_tests.memory:open_adapter"


@attrs.frozen
class Chosen:
    """An adapter to be tested: what test ids call it, and where its ``open_adapter`` is found."""

    label: str
    place: str

    def load(self) -> OpenAdapter:
        module, _, name = self.place.partition(":")
        found: OpenAdapter = getattr(importlib.import_module(module), name)
        return found


@attrs.define(eq=False)  # pytest keeps its plugins in sets
class Tally:
    """What became of the suite's tests, by adapter."""

    chosen: Sequence[Chosen]
    names: dict[str, str] = attrs.field(factory=dict)
    labels: dict[str, str] = attrs.field(factory=dict)
    stores: dict[str, str] = attrs.field(factory=dict)
    ran: Counter[str] = attrs.field(factory=Counter)
    ran_on: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """The same by adapter and store."""
    rows: set[str] = attrs.field(factory=set)
    """The stores of which any test was reported."""
    failed: Counter[str] = attrs.field(factory=Counter)
    skipped: Counter[str] = attrs.field(factory=Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        label = self.labels.get(report.nodeid)
        if label is None:
            return
        self.rows.add(self.stores[report.nodeid])
        if report.skipped or hasattr(report, "wasxfail"):
            self.skipped[label] += 1
        elif report.failed:
            self.failed[label] += 1
        elif report.when == "call":
            self.ran[label] += 1
            self.ran_on[label, self.stores[report.nodeid]] += 1

    def fault(self) -> str | None:
        """Why the outcome proves nothing, although no test failed."""
        if self.skipped:
            return "a contract test was skipped"
        if len({self.ran[adapter.label] for adapter in self.chosen}) > 1:
            return "the adapters did not run the same number of tests (choose adapters with --adapter)"
        return None

    def table(self) -> Iterator[str]:
        """How many tests passed, a row for each store and a column for each adapter."""
        heads = [self.names.get(adapter.label, adapter.label) for adapter in self.chosen]
        width = max(map(len, self.rows), default=0)
        yield "  ".join([" " * width, *heads])
        for store in sorted(self.rows):
            counts = [self.ran_on[adapter.label, store] for adapter in self.chosen]
            yield "  ".join([store.ljust(width), *(f"{n:>{len(head)}}" for n, head in zip(counts, heads, strict=True))])

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.labels and exitstatus == pytest.ExitCode.OK and self.fault():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        if not self.labels:
            return
        terminalreporter.section("storage contract")
        for line in self.table():
            terminalreporter.write_line(line)
        for adapter in self.chosen:
            name, failed = self.names.get(adapter.label, adapter.label), self.failed[adapter.label]
            terminalreporter.write_line(
                f"{name}: {self.ran[adapter.label]} passed, {self.skipped[adapter.label]} skipped"
                + (f", {failed} failed" if failed else "")
            )
        if not self.failed and (fault := self.fault()):
            terminalreporter.write_line(f"FAILED: {fault}", red=True)


TALLY: Final = pytest.StashKey[Tally]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("chopin", "Chopin's storage contract").addoption(
        "--adapter",
        action="append",
        default=[],
        metavar="MODULE:NAME",
        help=f"an adapter to run the suite on; may be repeated (default: memory, and the entry points of {GROUP})",
    )


def pytest_configure(config: pytest.Config) -> None:
    given: list[str] = config.getoption("--adapter")
    for place in given:
        if not all(place.partition(":")):
            raise pytest.UsageError(f"--adapter {place}: expected MODULE:NAME")
    registered = [Chosen(entry.name, entry.value) for entry in entry_points(group=GROUP)]
    known = [Chosen("memory", MEMORY), *sorted(registered, key=lambda adapter: adapter.label)]
    labels = {adapter.place: adapter.label for adapter in known}
    chosen = [Chosen(labels.get(place, place), place) for place in dict.fromkeys(given)] or known
    config.stash[TALLY] = Tally(chosen)
    config.pluginmanager.register(config.stash[TALLY])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if SUITE in metafunc.definition.path.parents and "adapter" in metafunc.fixturenames:
        chosen = metafunc.config.stash[TALLY].chosen
        metafunc.parametrize("adapter", chosen, indirect=True, ids=[a.label for a in chosen], scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tally = config.stash[TALLY]
    for item in items:
        if SUITE not in item.path.parents:
            continue
        adapter = item.callspec.params.get("adapter") if hasattr(item, "callspec") else None
        if not isinstance(adapter, Chosen):
            raise pytest.UsageError(f"{item.nodeid} does not run on the adapters, so it is no contract test")
        store = getattr(getattr(item, "module", None), "STORE", None)
        if not isinstance(store, str):
            raise pytest.UsageError(f"{item.nodeid} does not state its store (STORE = …), so nobody would count it")
        tally.labels[item.nodeid], tally.stores[item.nodeid] = adapter.label, store
