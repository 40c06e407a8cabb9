"""Memory that was used once and is free again goes back to the system: glibc keeps it otherwise (mallopt(3))."""

import ctypes
import sys
from typing import Any


def give_back() -> None:
    """Return free pages of the heap; nothing happens where the C library has no such call."""
    if sys.platform == "linux":
        library: Any = ctypes.CDLL(None)
        if hasattr(library, "malloc_trim"):  # musl has none
            library.malloc_trim(0)
