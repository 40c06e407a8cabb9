"""The rooms stand on floors: imports only run downwards, and never in a circle."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = {
    "model": 0, "errors": 0, "crash": 0, "managed_block": 0, "seed_config": 0, "places": 0, "config": 0,
    "cloud_config": 0, "clock": 0, "numerals": 0, "foreign": 0,
    "store": 1, "ingest": 2, "tiers": 2, "search": 2, "sync": 2,
    "operations": 3, "daemon": 4, "cli": 5,
}  # fmt: skip
ROOMS = ("cli", "daemon", "operations", "ingest", "tiers", "search", "sync", "store")
FILES = sorted([*ROOT.glob("*.py"), *(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))])


def module_of(file: Path) -> str:
    """`store/log.py` is `store.log`, `store/__init__.py` is `store`, the root's is ''."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path) -> Iterator[str]:
    """Every module of ours that `file` imports, also inside functions; `from . import x` is x where x is a module."""
    package = [*file.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module or "").split(".")
            module = ".".join(part for part in base if part)
            for alias in node.names:
                below = f"{module}.{alias.name}".strip(".")
                yield below if below in MODULES else module
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            assert not any(name.split(".")[0] == "memoryd" for name in names), (
                f"{file} imports its own house absolutely"
            )


MODULES = {module_of(file): file for file in FILES}


def floor(module: str) -> int | None:
    """The floor of a module; None for the root package, which holds the version alone."""
    return FLOORS[module.split(".", maxsplit=1)[0]] if module else None


@pytest.mark.parametrize("module", MODULES)
def test_imports_only_run_downwards(module):
    """A module imports its own room and rooms of lower floors, nothing else."""
    room, own = module.split(".")[0], floor(module)

    for other in imported(MODULES[module]):
        below = floor(other)
        assert below is None or own is None or other.split(".", 1)[0] == room or below < own or own == below == 0, (
            f"{module} (floor {own}) imports {other} (floor {below})"
        )


def test_the_page_of_the_rooms_shows_every_room_on_its_floor():
    """The table of docs/architecture.md is the one that is tested here."""
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d) \| (.+?) \|", page, re.MULTILINE)

    assert {room: int(floor) for floor, rooms in rows for room in re.findall(r"`(\w+)`", rooms)} == FLOORS


def test_no_imports_run_in_a_circle():
    """The import graph of all modules can be put in an order."""
    graph = {module: {other for other in imported(file) if other != module} for module, file in MODULES.items()}

    order = list(TopologicalSorter(graph).static_order())

    assert set(order) >= set(MODULES)


def test_the_embedded_engine_has_one_importer():
    """Only the store's adapter imports the libSQL library."""
    importers = [
        module
        for module, file in MODULES.items()
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(
            name.startswith("libsql")
            for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
        )
    ]

    assert importers == ["store.adapter"]
