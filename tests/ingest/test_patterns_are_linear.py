"""No regular expression takes more than linear time: one that does holds the whole daemon still (IN-5).

Every compiled pattern of the rooms that read words is found by itself, also within tuples, rules and cues. From
its own syntax tree come the texts that could hurt it: what it may match, cut after each of its parts, then one
thing again and again, then something that it cannot match. The texts grow by doubling: where that takes more than
three times the CPU time, twice, the pattern fails.
"""

import ast
import importlib
import pkgutil
import re
import re._constants as codes
import re._parser as parser
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOMS = ("ingest", "search", "tiers", "sync", "operations")
GUARDED = {
    "memoryd.ingest.words:_COMMENT": "asked only up to the last end of a comment (`without_comments`)",
    **dict.fromkeys(
        (f"memoryd.tiers.values:{name}" for name in ("_ENGLISH", "_HAN", "_OF", "_OWNED")),
        "asked only of a sentence of 300 characters (`setting`)",
    ),
}
"""Patterns whose callers never ask them what would take long."""
LONGEST = 6_144
"""Characters of the longest text: at a square, some 50 ms."""
NOTICED_S = 0.004
_FILL = [
    " ", "a", "1", "-", "*", "`", "(", "[", "/", ".", "中", "\n", "A", "_", "=", ":", "\t", '"', "<", "|", "a1", "a ",
    "a-", "a.", "1:", "- ", "Aa ", "a/", "x@", ", ",
]  # fmt: skip
_OF_CATEGORY = {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "a"}
_AT_START = {"match", "fullmatch"}
_ASKS = {"match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"}


def _modules() -> list[ModuleType]:
    found = []
    for room in ROOMS:
        package = importlib.import_module(f"memoryd.{room}")
        found += [
            importlib.import_module(f"memoryd.{room}.{each.name}") for each in pkgutil.iter_modules(package.__path__)
        ]
    return found


def _within(value: object, name: str, depth: int = 0) -> Iterator[tuple[str, "re.Pattern[Any]"]]:
    """The patterns that a module's value holds: itself, in a container, in an object of ours, in a closure."""
    inner: list[object] = []
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = list(value)
    elif isinstance(value, dict):
        inner = list(value.values())
    elif type(value).__module__.startswith("memoryd") and hasattr(value, "__dict__"):
        inner = list(vars(value).values())
    elif callable(value) and getattr(value, "__closure__", None):
        inner = [cell.cell_contents for cell in value.__closure__]
    for each in inner if depth < 5 else ():
        yield from _within(each, name, depth + 1)


def _asked(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Which names a module asks in which way."""
    for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _ASKS:
            yield node.value.id, node.attr


def _written_out(module: ModuleType) -> Iterator[tuple["re.Pattern[str]", bool]]:
    """Patterns that stand in a call: `re.match("…", text)`."""
    for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _ASKS
            and node.args
        ):
            of, first = node.func.value, node.args[0]
            if isinstance(of, ast.Name) and of.id == "re" and isinstance(first, ast.Constant):
                yield re.compile(first.value), node.func.attr in _AT_START


def _all() -> dict[str, list[tuple[str, "re.Pattern[Any]", bool]]]:
    """For each module its patterns, and whether they are only asked from a text's first character on."""
    seen: set[re.Pattern[Any]] = set()
    found: dict[str, list[tuple[str, re.Pattern[Any], bool]]] = {}
    modules = _modules()
    asked: dict[tuple[int, str], set[str]] = {}
    for module in modules:
        for name, way in _asked(module):
            asked.setdefault((id(vars(module).get(name)), name), set()).add(way)
    for module in modules:
        here = [
            (f"{module.__name__}:{name}", each)
            for name, value in vars(module).items()
            for _, each in _within(value, name)
        ]
        ways = {name: asked.get((id(each), name.partition(":")[2]), set()) for name, each in here}
        given = [(name, each, bool(ways[name]) and ways[name] <= _AT_START) for name, each in here]
        given += [(f"{module.__name__}:written out", each, at_start) for each, at_start in _written_out(module)]
        for name, pattern, at_start in given:
            if pattern not in seen and name not in GUARDED:
                seen.add(pattern)
                found.setdefault(module.__name__, []).append((name, pattern, at_start))
    return found


PATTERNS = _all()


def _char(item: list[tuple[Any, Any]]) -> str:
    for op, value in item:
        if op is codes.LITERAL:
            return chr(value)
        if op is codes.RANGE:
            return chr(value[0])
        if op is codes.CATEGORY:
            return _OF_CATEGORY.get(value, "!")
        if op is codes.NEGATE:
            return "~"
    return "a"


def _sample(tree: Any, parts: dict[str, None]) -> str:
    """A text that the tree may match; `parts` collects what its repeats and alternatives may match."""
    text = ""
    for op, value in tree:
        if op is codes.LITERAL:
            text += chr(value)
        elif op in (codes.NOT_LITERAL, codes.ANY):
            text += "~"
        elif op is codes.IN:
            text += _char(value)
        elif op is codes.BRANCH:
            branches = [_sample(branch, parts) for branch in value[1][:12]]
            parts.update(dict.fromkeys(branches))
            text += branches[0]
        elif op is codes.SUBPATTERN:
            text += _sample(value[3], parts)
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            inner = _sample(value[2], parts)
            parts[inner] = None
            text += inner * max(1, min(int(value[0]), 40))
        elif op is codes.ATOMIC_GROUP:
            text += _sample(value, parts)
    return text


def _hostile(pattern: "re.Pattern[Any]") -> Iterator[Callable[[int], str]]:
    """Makers of texts of any length that might take the pattern long."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = list(parser.parse(source, pattern.flags & ~re.UNICODE))
    parts: dict[str, None] = {}
    heads = {_sample(tree[:end], parts): None for end in range(max(1, len(tree) - 10), len(tree) + 1)}
    units = [each for each in dict.fromkeys([*_FILL, *heads, *list(parts)[:24]]) if each]
    for unit in units:
        yield lambda n, unit=unit: (unit * (n // len(unit) + 1))[:n] + "\0"
    for head in [each for each in dict.fromkeys([*heads, *list(parts)[:6]]) if each]:
        for unit in _FILL[:22]:
            yield lambda n, head=head, unit=unit: head + (unit * (n // len(unit) + 1))[:n] + "\0"
            yield lambda n, both=head + unit: (both * (n // len(both) + 1))[:n]


def _cpu_s(pattern: "re.Pattern[Any]", text: str, *, at_start: bool, times: int) -> float:
    given: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        if at_start:
            pattern.match(given)
        else:
            for _found in pattern.finditer(given):
                pass
        best = min(best, time.process_time() - began)
    return best


def _grows(pattern: "re.Pattern[Any]", make: Callable[[int], str], *, at_start: bool) -> bool:
    """Whether doubling the text triples the time; looked at twice, since a machine may be busy with other things."""
    n = 12
    while n <= LONGEST:
        if _cpu_s(pattern, make(n), at_start=at_start, times=1) > NOTICED_S:
            ratios = []
            for _ in range(2):
                half, whole = (_cpu_s(pattern, make(size), at_start=at_start, times=3) for size in (n // 2, n))
                ratios.append(whole / max(half, 1e-6))
            return min(ratios) > 3 and whole > NOTICED_S
        n *= 2
    return False


@pytest.mark.parametrize("module", PATTERNS)
def test_no_pattern_takes_more_than_linear_time(module: str) -> None:
    """Whatever text of thousands of characters comes, twice of it takes about twice as long."""
    slow = []
    for name, pattern, at_start in PATTERNS[module]:
        made = next((make for make in _hostile(pattern) if _grows(pattern, make, at_start=at_start)), None)
        slow += [(name, made(24), pattern.pattern)] if made is not None else []

    assert slow == []


def test_patterns_are_found_wherever_they_stand() -> None:
    """Those of rules, cues and tables are among them, and no exception is for a pattern that is gone."""
    names = {name for each in PATTERNS.values() for name, _, _ in each}
    wanted = {"memoryd.ingest.findings:_ACTION", "memoryd.ingest.mask:BY_FORM", "memoryd.ingest.marks:_BOX",
              "memoryd.search.dates_english:ENGLISH"}  # fmt: skip

    assert sum(map(len, PATTERNS.values())) > 250
    assert wanted <= names
    for name in GUARDED:
        module, _, constant = name.partition(":")
        assert isinstance(vars(importlib.import_module(module))[constant], re.Pattern)


@pytest.mark.parametrize("pattern", [r"(?:a+)+$", r"\s*x", r"\d+月", r"[ \t>]*[-\w \t]{4,200}\Z", r"x.*?y"])
def test_a_slow_pattern_would_be_seen(pattern: str) -> None:
    """The texts are hostile enough for the common faults."""
    compiled = re.compile(pattern)

    assert any(_grows(compiled, make, at_start=False) for make in _hostile(compiled))
