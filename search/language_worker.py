"""The language process: cuts Chinese into words with jieba. Run as a script of its own, it imports nothing of memoryd.

    python -I language_worker.py CACHE_FOLDER CUSTOM_DICT

It reads one JSON text a line and answers each with one JSON array of words. CUSTOM_DICT is read anew when it changed.
"""

import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

READY = "ready"


def main(cache_folder: str, custom_dict: str) -> None:
    """Load the dictionary, say `ready`, answer until stdin ends."""
    warnings.simplefilter("ignore")
    import jieba  # type: ignore[import-untyped]  # the package carries no types

    jieba.setLogLevel(logging.CRITICAL)
    stamp, tokenizer = _stamp(custom_dict), _tokenizer(jieba, cache_folder, custom_dict)
    _say(READY)
    for line in sys.stdin:
        if (now := _stamp(custom_dict)) != stamp:
            stamp, tokenizer = now, _tokenizer(jieba, cache_folder, custom_dict)
        _say(list(tokenizer.cut(json.loads(line))))


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _tokenizer(jieba: Any, cache_folder: str, custom_dict: str) -> Any:
    # Words cannot be taken out of a tokenizer again, so a changed dictionary means a new one.
    tokenizer = jieba.Tokenizer()
    tokenizer.tmp_dir = cache_folder
    tokenizer.initialize()
    for line in _lines(custom_dict):
        word, *rest = line.split()
        tokenizer.add_word(word, int(rest[0]) if rest and rest[0].isdigit() else None)
    return tokenizer


def _lines(custom_dict: str) -> list[str]:
    try:
        if not Path(custom_dict).is_file():  # opening a pipe never returns
            return []
        text = Path(custom_dict).read_text("utf-8-sig", "replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _stamp(path: str) -> tuple[int, int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


if __name__ == "__main__":
    main(*sys.argv[1:])
