"""The daemon's log: stderr for the journal, a small rotating file on macOS. No note text, no secrets."""

import logging
import logging.handlers
import os
import sys
from collections.abc import Mapping
from pathlib import Path

FILE_BYTES = 5_000_000
FILES = 3

_QUIET = ("httpx", "httpcore", "uvicorn", "asyncio", "markdown_it", "watchdog")
"""Libraries that say at INFO what is our own affair, or addresses that hold more than they should."""


def set_up_logging(instance: str, environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> None:
    """One line a state change, to stderr; on macOS also to `~/Library/Logs/memoryd/<instance>.log`."""
    env = os.environ if environment is None else environment
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    if platform == "darwin":
        folder = Path.home() / "Library/Logs/memoryd"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = folder / f"{instance}.log"
        handlers.append(
            logging.handlers.RotatingFileHandler(file, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8")
        )
    for handler in handlers:
        # The journal knows the time itself.
        stamp = "" if "JOURNAL_STREAM" in env else "%(asctime)s "
        handler.setFormatter(logging.Formatter(f"{stamp}%(levelname)s %(message)s"))
        root.addHandler(handler)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
