"""Prints measurements: what, how much, the specified limit, and what the bare minimum costs in the same run."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Measure(NamedTuple):
    """One line. `limit` and `floor` as text, '' where there is none; `within` None where nothing is limited."""

    what: str
    value: str
    limit: str = ""
    within: bool | None = None
    floor: str = ""


def show(title: str, measures: Sequence[Measure]) -> None:
    """Print a small table; a line over its limit is marked."""
    rows = [("", "measured", "limit", "floor of this run")]
    rows += [(each.what, each.value, each.limit + _mark(each.within), each.floor) for each in measures]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"\n{title}")
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), flush=True)


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def lower_quartile(values: Sequence[float]) -> float:
    """The value that a quarter of all do not exceed."""
    return statistics.quantiles(values, n=4)[0]


def p95(values: Sequence[float]) -> float:
    """The value that 95 % of all do not exceed."""
    return sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)]


def _mark(within: bool | None) -> str:
    return "" if within is None else "  ok" if within else "  OVER"
