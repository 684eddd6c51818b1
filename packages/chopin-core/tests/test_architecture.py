"""What the core may import: the standard library and attrs; a Markdown parser in ``document``, a CRDT in ``engines``."""

from __future__ import annotations

import sys

import grimp
import pytest

ALLOWED = {"attr", "attrs"}
ALSO = {
    "chopin_core.document": {"markdown_it", "mdit_py_plugins"},
    "chopin_core.engines": {"pycrdt", "y_py"},
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("chopin_core", include_external_packages=True, cache_dir=None)


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def outside(graph: grimp.ImportGraph, module: str) -> set[str]:
    """The packages that a module of ours imports, other than ours and Python's."""
    imported = {name.split(".")[0] for name in graph.find_modules_directly_imported_by(module)}
    return imported - {"chopin_core"} - sys.stdlib_module_names


def test_the_core_needs_attrs_and_nothing_else_but_where_it_is_said(graph: grimp.ImportGraph) -> None:
    strangers = {
        (module, package)
        for module in graph.modules
        if within(module, "chopin_core")
        for package in outside(graph, module) - ALLOWED
        if not any(within(module, place) and package in packages for place, packages in ALSO.items())
    }
    assert strangers == set()


@pytest.mark.parametrize(("place", "package"), [(place, package) for place, packages in ALSO.items() for package in packages])
def test_what_is_allowed_in_one_place_is_used_there(graph: grimp.ImportGraph, place: str, package: str) -> None:
    assert any(package in outside(graph, module) for module in graph.modules if within(module, place))


def test_each_engine_knows_its_own_library_only(graph: grimp.ImportGraph) -> None:
    for module in graph.modules:
        if within(module, "chopin_core.engines"):
            assert len(outside(graph, module) & ALSO["chopin_core.engines"]) <= 1, module
