"""Long work on a memory file, done by a process of its own: the library would freeze every thread of the daemon.

    python -m memoryd.store.upkeep check FILE          is the file sound?
    python -m memoryd.store.upkeep copy FILE TARGET    a compact, checked copy of it

Prints nothing and ends with 0 when all is well, else with 1 and one line that says what is wrong.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ..errors import MemorydError, StoreDamagedError, StoreError
from .adapter import Database

LIMIT_S = 1800.0
"""The longest such work may take [s]; 1 GB takes about 20 s."""
_FAULTY = 1
_REFUSED = 2


def check(path: Path) -> str:
    """What is wrong with the file, '' when it is sound; in a process of its own.

    Raises `StoreError` when nobody can tell: the process could not run, or took too long.
    """
    return _performed("check", path)


def copy(path: Path, target: Path) -> None:
    """Write a compact copy of the file to `target`, which must not exist, and check it.

    Raises `StoreDamagedError` when the file cannot be copied soundly, `StoreError` for anything else.
    """
    if fault := _performed("copy", path, target):
        raise StoreDamagedError(f"{path.name} cannot be copied soundly: {fault}", "It is checked and rebuilt.")


def _performed(*words: str | Path) -> str:
    # -P: the folder that the daemon was started in holds other people's files, and they are no modules of ours.
    command = [sys.executable, "-P", "-m", __name__, *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreError(f"The database cannot be looked at: {type(error).__name__}.", "It is tried again.") from None
    if done.returncode == 0:
        return ""
    said = (done.stdout.strip() or done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    if done.returncode == _FAULTY:
        return said
    raise StoreError(f"The database cannot be looked at: {said}", "It is tried again.")


def fault_of(path: Path) -> str:
    """The first fault that the library's own check finds, '' when there is none."""
    try:
        with closing(Database(path)) as db:
            ((found, *_), *_) = db.execute("PRAGMA integrity_check(1)")
            if found == "ok":
                db.execute("SELECT v FROM meta WHERE k = 'device'")
    except StoreDamagedError as error:
        return error.message
    except StoreError as error:
        if "no such table" in error.message:
            return "it holds no memory"
        raise
    return "" if found == "ok" else str(found)


def copy_checked(path: Path, target: Path) -> str:
    """`VACUUM INTO`, then a check of what came out; returns the fault, '' when the copy is sound."""
    try:
        with closing(Database(path)) as db:
            db.execute("VACUUM INTO ?", (str(target),))
    except StoreDamagedError as error:
        return error.message
    target.chmod(0o600)
    return fault_of(target)


def main(arguments: Sequence[str]) -> int:
    """The process's own entry."""
    os.nice(5)
    work, *paths = arguments
    try:
        fault = fault_of(Path(paths[0])) if work == "check" else copy_checked(Path(paths[0]), Path(paths[1]))
    except MemorydError as error:
        sys.stdout.write(error.message + "\n")
        return _REFUSED
    if fault:
        sys.stdout.write(fault.replace("\n", " ") + "\n")
    return _FAULTY if fault else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
