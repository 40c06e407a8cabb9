"""Temporary folders beside the database, for copies of a memory that are read and thrown away.

They lie in the state folder, which is private, and not in the system's: what they hold is as secret as the memory.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "scratch-"


@contextmanager
def scratch(state: Path) -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=state) as folder:
        yield Path(folder)


def sweep_scratch(state: Path) -> None:
    """Remove what a process that was killed left; only who holds the state folder's lock may do so.

    A copy that stays would keep words that are forgotten later.
    """
    for folder in state.glob(f"{_PREFIX}*"):
        shutil.rmtree(folder)
