"""The contract suite is itself tested: every adapter with a fault turns it red, and a sound one by the same way does not."""

from __future__ import annotations

import fnmatch
import os
import pkgutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import attrs
import pytest

import chopin_contract_tests
from chopin_storage_pg.testing import SERVER, open_server

AT_ONCE: Final = 3
"""Runs beside each other; of each, half the time is waiting for leases to run out."""

PATIENCE: Final = 240
"""Seconds after which a run is ended: a mutant that hangs the suite was not caught by it."""

HERE: Final = Path(__file__).parent

MODULES: Final = sorted(module.name for module in pkgutil.iter_modules(chopin_contract_tests.__path__))

pytestmark = pytest.mark.timeout(PATIENCE + 60)  # a run may begin late, after those before it


@attrs.frozen
class Mutant:
    """
    A fault, the ``open_adapter`` that has it, and the modules of the suite that are run on it: all, unless it says which.

    A module is named without its ``test_``, and ``jobs*`` are all that begin so. ``tests`` chooses among theirs, as pytest's
    ``-k`` does, which knows the name of the mutant too.
    """

    fault: str
    place: str
    modules: str = ""
    tests: str = ""

    def suite(self) -> list[str]:
        named = {wanted: fnmatch.filter(MODULES, f"test_{wanted}") for wanted in self.modules.split()}
        assert all(named.values()), f"the suite has not all of {self.modules}"
        modules = [f"chopin_contract_tests.{module}" for found in named.values() for module in found] or [
            "chopin_contract_tests"
        ]
        return [*modules, *(["-k", self.tests] if self.tests else [])]


SOUND = [
    Mutant("none", "mutants.memory:faultless"),
    Mutant("none (PostgreSQL)", "mutants.postgres:faultless", "takeover contention recovery"),
]

MUTANTS = [
    Mutant("no fence", "mutants.fencing:no_fence"),
    Mutant("fence read before the lock", "mutants.fencing:read_before_the_lock"),
    Mutant("no revision check", "mutants.revisions:no_revision_check"),
    Mutant("acknowledge before commit", "mutants.durability:acknowledge_before_commit"),
    Mutant("prune on a refused checkpoint", "mutants.checkpoints:prune_on_a_refused_checkpoint"),
    Mutant("last write wins", "mutants.revisions:last_write_wins"),
    Mutant("replay compared by payload", "mutants.replays:compared_by_payload"),
    Mutant("counters raised on failure", "mutants.revisions:counters_raised_on_failure"),
    Mutant("lists without tie-break", "mutants.lists:without_tie_break"),
    Mutant("live objects handed out", "mutants.values:live_objects_handed_out"),
    # The ten above are run through everything. From here on, to save minutes, through what is about the fault:
    Mutant("live objects kept", "mutants.values:live_objects_kept", "recovery"),
    Mutant("expired lease accepted", "mutants.fencing:expired_lease_accepted", "fence"),
    Mutant("lease judged by the caller's clock", "mutants.fencing:callers_clock", "fence"),
    Mutant("fencing token not compared", "mutants.fencing:token_not_compared", "fence"),
    Mutant("fencing token not raised by a takeover", "mutants.leases:token_not_raised", "leases"),
    Mutant("two holders of one lease", "mutants.leases:two_holders", "leases takeover"),
    Mutant("expired lease renewed", "mutants.leases:expired_lease_renewed", "leases"),
    Mutant("replay answered without the lease", "mutants.fencing:repeat_without_lease", "replays"),
    Mutant("replay after the archive check", "mutants.replays:after_the_archive_check", "replays"),
    Mutant("operations dropped with the journal", "mutants.replays:dropped_with_the_journal", "replays"),
    Mutant("operations dropped with the history", "mutants.replays:dropped_with_the_history", "replays"),
    Mutant("operation ids shared by all channels", "mutants.replays:shared_by_all_channels", "replays"),
    Mutant("operations pruned within the window", "mutants.retention:no_window", "retention"),
    Mutant("window measured by the caller's clock", "mutants.retention:callers_clock", "retention"),
    Mutant("events of pruned operations kept", "mutants.retention:events_kept", "retention"),
    Mutant("journal pruned with the operations", "mutants.retention:journal_taken", "retention"),
    Mutant("operations pruned without the lease", "mutants.retention:no_lease", "retention"),
    Mutant("archived channels never pruned", "mutants.retention:archive_passed_by", "retention"),
    Mutant("sequences given out again after pruning", "mutants.retention:counted_anew", "retention"),
    Mutant("pruning without a limit", "mutants.retention:no_limit", "retention"),
    Mutant("commit kept after its cancellation", "mutants.durability:kept_after_cancellation", "cancellation recovery"),
    Mutant("half of a refused commit kept", "mutants.durability:half_of_a_refused_commit", "commits replays"),
    Mutant("load not of one moment", "mutants.durability:load_not_one_moment", "contention"),
    Mutant("checkpoint prunes what it does not cover", "mutants.checkpoints:prune_what_is_not_covered", "checkpoints"),
    Mutant("checkpoint prunes in a second step", "mutants.checkpoints:prune_in_a_second_step", "checkpoints contention"),
    Mutant("checkpoint lowers through_sequence", "mutants.checkpoints:through_lowered", "checkpoints"),
    Mutant("patch replaces the whole record", "mutants.values:patch_replaces_the_record", "sidecars"),
    Mutant("unique title decided outside the lock", "mutants.titles:decided_outside_the_lock", "naming_races"),
    Mutant("former slugs forgotten", "mutants.titles:former_slugs_forgotten", "slugs"),
    Mutant("active channel deleted", "mutants.channels:active_deleted", "deletion"),
    Mutant("parent deleted before its children", "mutants.channels:referred_deleted", "deletion"),
    Mutant("images left behind by a deletion", "mutants.channels:images_left", "deletion"),
    Mutant("alias handed to another channel", "mutants.channels:aliases_handed_on", "slugs"),
    Mutant("description revision not raised", "mutants.channels:description_not_counted", "descriptions"),
    Mutant("archiving moves the revision", "mutants.channels:archiving_counted", "archive"),
    Mutant("blocks of research changed unasked", "mutants.children:blocks_unasked", "projections commits"),
    Mutant("repeat refused by a request that moved on", "mutants.children:repeats_asked_again", "projections"),
    Mutant("parents cleared of conversations", "mutants.children:parents_cleared", "conversations"),
    Mutant("conversation left in the snapshot", "mutants.children:snapshots_forgotten", "conversations"),
    Mutant("conversations cleared without the lease", "mutants.children:cleared_by_anybody", "conversations"),
    Mutant("deleted session brought back by rotation", "mutants.sessions:brought_back_by_rotation", "*session*"),
    Mutant("rotation without revision check", "mutants.sessions:rotated_whatever", "*session*"),
    Mutant("reset keeps metadata-only sessions", "mutants.sessions:plain_ones_kept", "*session*"),
    Mutant("reset under any lease", "mutants.sessions:reset_under_any_lease", "*session*"),
    Mutant("session valid at its end", "mutants.sessions:valid_at_its_end", "*session*"),
    Mutant("owner left by a session that ends", "mutants.sessions:owner_left", "*session* agents"),
    Mutant("second claim of a Planner wins", "mutants.agents:second_claim_wins", "agents"),
    Mutant("generation of a Planner not raised", "mutants.agents:generation_stays", "agents"),
    Mutant("Planner cleared under another generation", "mutants.agents:any_generation", "agents"),
    Mutant("owner of an expired session shown", "mutants.agents:expired_owner", "agents"),
    Mutant("navigation moved from any revision", "mutants.navigation:moved_whatever", "navigation*"),
    Mutant("half a visit kept", "mutants.navigation:half_a_visit", "navigation*"),
    Mutant("visit in two steps", "mutants.navigation:visit_in_two_steps", "navigation*"),
    Mutant("revocation keeps credentials", "mutants.machines:credentials_kept", "machine*"),
    Mutant("revoked machine found by its token", "mutants.machines:revoked_found", "machine*"),
    Mutant("revoked machine still chosen", "mutants.machines:choices_left", "machine*"),
    Mutant("two favourites", "mutants.machines:first_favourite", "machine*"),
    Mutant("second upload replaces an image", "mutants.images:second_replaces", "images"),
    Mutant("image shown in other channels", "mutants.images:shown_everywhere", "images"),
    Mutant("any claim lets a worker in", "mutants.jobs:any_claim", "job*", "not_held or lost_the_claim or progress"),
    Mutant("job claimed by two workers", "mutants.jobs:claimed_in_two_steps", "job*", "eight_workers or due"),
    Mutant("claims without end", "mutants.jobs:no_expiry", "job*", "exactly_at_its_expiry or progress"),
    Mutant(
        "job of a lost worker never due again", "mutants.jobs:never_due_again", "job*", "fell_due or from_the_instant or pause"
    ),
    Mutant("job counter raised on failure", "mutants.jobs:refusals_counted", "job*", "not_held or refused or settle"),
    Mutant("job counter raised by a repeat", "mutants.jobs:repeats_counted", "job*", "a_repeat or counter"),
    Mutant("repeat of a job compared by nothing", "mutants.jobs:compared_by_nothing", "job*", "key or repeat"),
    Mutant("older jobs of a target left running", "mutants.jobs:others_left_running", "job*", "target or counter"),
    Mutant("job ended twice", "mutants.jobs:ended_twice", "job*", "state or cancel"),
    Mutant("progress beyond 32 entries", "mutants.jobs:no_progress_forgotten", "job*", "entries or longer or attempt"),
    Mutant("job completed before its artifact is there", "mutants.jobs:settled_in_two_steps", "job*", "is_settled or artifact"),
    Mutant("gap between turns", "mutants.research:gap_left", "research*"),
    Mutant("repeat of a request compared by nothing", "mutants.research:compared_by_nothing", "research*"),
    Mutant("repeat of a question compared by nothing", "mutants.research:asked_on_any_repeat", "research*"),
    Mutant("turn given a second job", "mutants.research:taken_linked", "research*"),
    Mutant("job of another turn linked", "mutants.research:foreign_linked", "research*"),
    Mutant("report published without its link", "mutants.research:published_without_link", "research*"),
    Mutant("report published twice", "mutants.research:published_twice", "research*"),
    Mutant("report published in two steps", "mutants.research:published_in_two_steps", "research*"),
    # Faults that a database has in its own way; a run on one takes ten times as long as in memory.
    Mutant("no lock on jobs (PostgreSQL)", "mutants.jobs:no_lock_sql", "jobs*", "eight_workers or fell_due or claim_nothing"),
    Mutant("no fence (PostgreSQL)", "mutants.fencing:no_fence_sql", "fence"),
    Mutant("fence read before the lock (PostgreSQL)", "mutants.fencing:read_before_the_lock_sql", "takeover"),
    Mutant("takeover waits for no write (PostgreSQL)", "mutants.fencing:takeover_does_not_wait_sql", "takeover"),
    Mutant("no revision check (PostgreSQL)", "mutants.revisions:no_revision_check_sql", "commits contention"),
    Mutant("no lock on the channel (PostgreSQL)", "mutants.revisions:no_channel_lock_sql", "contention"),
    Mutant("last write wins (PostgreSQL)", "mutants.revisions:last_write_wins_sql", "commits contention"),
    Mutant("counters raised on failure (PostgreSQL)", "mutants.revisions:counters_raised_on_failure_sql", "commits contention"),
    Mutant("acknowledge before commit (PostgreSQL)", "mutants.durability:acknowledge_before_commit_sql", "recovery"),
    Mutant("load not of one moment (PostgreSQL)", "mutants.durability:load_not_one_moment_sql", "contention"),
]


@attrs.frozen
class Run:
    """What became of the suite: how many tests passed, which failed, and which only because the mutant itself crashed."""

    passed: int
    failed: list[str]
    crashed: list[str]
    output: str

    def catchers(self) -> str:
        """The tests that failed, each once, with the number of its cases if there are several."""
        counted = Counter(test.partition("[")[0] for test in self.failed)
        named = [test if cases == 1 else f"{test} ({cases})" for test, cases in counted.items()]
        return ", ".join([*named[:3], *([f"{len(named) - 3} more"] if len(named) > 3 else [])])


def run(mutant: Mutant, folder: Path) -> Run:
    report = folder / "report.xml"
    plain = ("-p", "no:cacheprovider", "-p", "mutants.unshrunk", "--tb=line")
    reported = ("-o", "junit_family=xunit1", f"--junitxml={report}")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *plain, *reported, "--adapter", mutant.place, "--pyargs", *mutant.suite()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    passed, failed, crashed = 0, [], []
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{Path(case.get('file', '')).stem}::{case.get('name')}"
        failure = case.find("failure")
        if case.find("error") is not None or (failure is not None and crash(failure)):
            crashed.append(name)
        elif failure is not None:
            failed.append(name)
        else:
            passed += 1
    return Run(passed=passed, failed=failed, crashed=crashed, output=ended.stdout)


def crash(failure: ElementTree.Element) -> bool:
    """Whether a contract test failed inside the mutant, and not by a refusal: then it shows no broken promise."""
    return str(HERE) in (failure.text or "") and not failure.get("message", "").startswith("chopin_core.errors.")


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Mutant, Future[Run]]]:
    """A run for every mutant that a test was selected for, in their order, on one PostgreSQL server."""
    cases = [
        item.callspec.params
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
    ]
    chosen = [mutant for params in cases for mutant in params.values() if isinstance(mutant, Mutant)]
    with open_server() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(SERVER, server.url)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield {mutant: pool.submit(run, mutant, tmp_path_factory.mktemp("mutant")) for mutant in chosen}
            pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("mutant", SOUND, ids=lambda mutant: mutant.fault)
def test_an_adapter_without_fault_is_green(runs: dict[Mutant, Future[Run]], mutant: Mutant) -> None:
    sound = runs[mutant].result()

    assert (sound.failed, sound.crashed) == ([], []), sound.output
    assert sound.passed > 20


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.fault)
def test_a_fault_turns_the_suite_red(
    runs: dict[Mutant, Future[Run]], mutant: Mutant, record_property: Callable[[str, object], None]
) -> None:
    red = runs[mutant].result()
    count = f"{len(red.failed)} of {red.passed + len(red.failed)}"
    record_property("caught", f"{mutant.fault}: {count}: {red.catchers()}" if red.failed else f"{mutant.fault}: SURVIVED")

    assert red.failed, red.output
    assert red.crashed == [], red.output
    assert red.passed > len(red.failed), red.output
