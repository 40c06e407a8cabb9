"""Runs every benchmark and prints each figure beside its limit and beside the bare minimum of the same run.

    python benchmarks/run.py [--quick] [daily scan commands cloud search retrieval]

`--quick` takes a tenth of the notes and facts; its figures are for a look, not for the budgets.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cloud
import commands
import daily
import retrieval
import scan

import search


def main() -> int:
    """Run what was asked for; 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    part = 10 if asked.quick else 1
    benchmarks: dict[str, Callable[[], object]] = {
        "daily": lambda: daily.main(5_000 // part, 50 // part, 60 / part),
        "scan": lambda: scan.main(10_000 // part),
        "commands": lambda: commands.main(100_000 // part),
        "cloud": lambda: cloud.main(1_000 // part),
        "search": lambda: search.main(200_000 // part),
        "retrieval": _retrieval,
    }
    if unknown := set(asked.names) - set(benchmarks):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    print(f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} cores")
    load = Path("/proc/loadavg")
    if load.exists():
        print(f"load before: {load.read_text().split()[0]}")
    return max(_run(name, benchmarks[name]) for name in asked.names or benchmarks)


def _retrieval() -> None:
    if retrieval.main() == 1:
        raise RuntimeError("not every baseline ran")


def _run(name: str, benchmark: Callable[[], object]) -> int:
    started = time.monotonic()
    try:
        benchmark()
    except RuntimeError as error:
        print(f"\n{name} failed: {error}", file=sys.stderr)
        return 1
    print(f"  ({name}: {time.monotonic() - started:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
