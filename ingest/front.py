"""Front matter of every kind, read and brought to plain types; what only looks like it stays a rule and text."""

import datetime as dt
import re
import tomllib
from typing import Any

import msgspec
import yaml
from frontmatter.default_handlers import YAMLHandler

_MOST_LINES = 200
_KEY_LINE = re.compile(r"\s*(?:[\w\"'$.][^:]{0,80}:(?:\s|\Z)|[-#\]}]|\s+\S|\Z)")
_PROPERTY = re.compile(r"[A-Za-z][\w-]*:: ")
_HANDLER = YAMLHandler()


class Front(msgspec.Struct):
    """What stands above a note's body: how many lines it takes, its values, and what is wrong with it."""

    lines: int = 0
    values: dict[str, Any] = {}
    fault: str = ""
    fault_line: int = 0

    def text(self, key: str) -> str:
        """A value as text, '' if it is missing or no scalar."""
        value = self.values.get(key)
        return "" if value is None or isinstance(value, (list, dict)) else str(value).strip()

    def items(self, key: str) -> list[str]:
        """A value as a list of texts: YAML lists, and `a, b` written in one line."""
        value = self.values.get(key)
        if isinstance(value, list):
            return [
                str(each).strip().lstrip("#")
                for each in value
                if not isinstance(each, (list, dict)) and each is not None
            ]
        return [part.strip().lstrip("#") for part in re.split(r"[,，、]", self.text(key)) if part.strip()]


def read_front(lines: list[str]) -> Front:
    """The front matter that `lines` begin with: YAML between `---`, TOML between `+++`, or outliner properties."""
    if not lines:
        return Front()
    opening = lines[0].strip()
    if opening in ("---", "+++"):
        return _fenced(lines, opening)
    count = 0
    values: dict[str, Any] = {}
    for line in lines[:_MOST_LINES]:
        if _PROPERTY.match(line) is None:
            break
        key, _, value = line.partition(":: ")
        values[key.lower()] = value.strip()
        count += 1
    return Front(count, values)


def _fenced(lines: list[str], opening: str) -> Front:
    ends = ("---", "...") if opening == "---" else ("+++",)
    end = next((n for n in range(1, min(len(lines), _MOST_LINES)) if lines[n].rstrip() in ends), 0)
    inner = lines[1:end]
    if not end or not any(line.strip() for line in inner):
        return Front(end + 1, {}) if end else Front()
    text = "\n".join(inner)
    try:
        loaded = _HANDLER.load(text) if opening == "---" else tomllib.loads(text)
    except (
        yaml.YAMLError,
        tomllib.TOMLDecodeError,
        ValueError,
        TypeError,
        RecursionError,
        AttributeError,
        KeyError,
    ) as error:
        if not all(_KEY_LINE.match(line) for line in inner):
            return Front()
        return Front(end + 1, {}, _fault(error), _fault_line(error, end))
    if not isinstance(loaded, dict):
        return Front()
    return Front(end + 1, {str(key).lower(): plain(value) for key, value in loaded.items()})


def plain(value: Any, depth: int = 0) -> Any:
    """A YAML value as JSON types: dates become ISO text, unknown things text; cut below five levels."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (dt.datetime, dt.date)):
        return value.isoformat()
    if depth >= 5:
        return ""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each, depth + 1) for each in list(value)[:_MOST_LINES]]
    if isinstance(value, dict):
        return {str(key): plain(each, depth + 1) for key, each in list(value.items())[:_MOST_LINES]}
    return str(value)


def _fault(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    return str(problem).split("\n", 1)[0]


def _fault_line(error: Exception, end: int) -> int:
    mark = getattr(error, "problem_mark", None)
    return min(mark.line + 2, end + 1) if mark is not None else 1
