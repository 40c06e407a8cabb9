"""URLs, file paths and commands in what a block says. Not by linkify, which triples the cost of parsing."""

import re
from collections.abc import Iterable

from ..model import Metadata
from .commands import commands_in_line, commands_in_span

_URL = re.compile(
    r"(?:(?:https?|ftp|wss?|ssh|git|libsql)://|www\.)[^\s<>\"`|\\^\u3000-\u303f\u3400-\u9fff\uff00-\uffef“”‘’…]+",
    re.IGNORECASE,
)
_TLD = "com|org|net|io|dev|app|ai|cn|edu|gov|jp|de|fr|uk|eu|info|xyz|tech|cloud|me|us|ca|au|tw|hk|kr|tv|gg|so"
_DOMAIN = re.compile(
    rf"(?<![\w@./:-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:{_TLD})(?![\w-]|\.\w)(?::\d+)?(?:/[^\s<>\"`"
    rf"|\\^\u3000-\u303f\u3400-\u9fff\uff00-\uffef]*)?",
    re.IGNORECASE,
)
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_END = ".,;:!?'\"*_~"

_ROOTS = (
    "etc|tmp|home|usr|var|opt|mnt|root|srv|dev|proc|sys|bin|sbin|lib|boot|media|run|data"
    "|Users|Applications|Library|Volumes|private"
)
_PART = r"[\w.@+%~=,-]"
_POSIX = re.compile(
    rf"(?<![A-Za-z0-9_/.~:<>*)\]])(?:/(?:{_ROOTS})\b(?:/{_PART}+)*/?|(?:/{_PART}+){{2,}}/?|~/(?:{_PART}+/?)*"
    rf"|\.\.?/(?:{_PART}+/)*{_PART}+/?)"
)
_WINDOWS = re.compile(
    r"(?<![\w])(?:(?:[A-Za-z]:\\|[A-Z]:/(?!/))(?:[^\\/:*?\"<>|\s,;，。；]+[\\/]?)*"
    r"|\\\\[\w.-]+\\[^\s\"<>|,;，。；]+)"
)
_EXTENSION = (
    "py|js|ts|tsx|jsx|json|ya?ml|toml|md|txt|rs|go|c|h|cpp|hpp|java|rb|php|sh|bash|sql|html?|css|csv|log|conf"
    "|cfg|ini|env|lock"
    "|xml|png|jpe?g|gif|svg|pdf|service|plist|sol|ipynb|db|gguf|safetensors"
)
_RELATIVE = re.compile(rf"(?<![\w/.~:@-])(?:[\w.-]+/)+[\w.-]+\.(?:{_EXTENSION})(?![\w/-])")
_HAN_TAIL = re.compile(r"(\.[A-Za-z0-9]{1,5})[\u3400-\u9fff]+\Z")
"""Chinese right behind an extension is the sentence going on."""
_LIMIT = 50
"""At most so many URLs, commands and paths a block: a list of a thousand is data, not memory."""


def extract(text: str) -> Metadata:
    """Metadata of plain text: URLs, whole command lines, paths."""
    return gather([text], [], [])


def gather(texts: Iterable[str], spans: Iterable[str], links: Iterable[str]) -> Metadata:
    """Metadata of one block.

    `texts` are its words line by line, `spans` its code spans, `links` the targets of its links.
    """
    urls: list[str] = []
    paths: list[str] = []
    commands: list[str] = []
    for link in links:
        (urls if is_url(link) else paths).append(link) if is_url(link) or _looks_like_path(link) else None
    for text in texts:
        found, rest = find_urls(text)
        urls += found
        paths += find_paths(rest)
        for line in text.split("\n"):
            commands += commands_in_line(line)
    for span in spans:
        commands += commands_in_span(span)
    return Metadata(urls=unique(urls), commands=unique(commands), paths=unique(paths))


def find_urls(text: str) -> tuple[list[str], str]:
    """The URLs of `text`, brackets balanced, and the text without them."""
    found: list[str] = []
    if "://" in text or "www." in text.lower():
        text = _URL.sub(lambda match: _take(match, found), text)
    if "." in text:
        text = _DOMAIN.sub(lambda match: _take_domain(match, found), text)
    return found, text


def find_paths(text: str) -> list[str]:
    """POSIX, home, relative and Windows paths; dates and fractions are none."""
    found: list[tuple[int, str]] = []
    if "/" in text:
        for pattern in (_POSIX, _RELATIVE):
            found += [(match.start(), _HAN_TAIL.sub(r"\1", match[0].rstrip(".,"))) for match in pattern.finditer(text)]
    if "\\" in text:
        found += [(match.start(), match[0]) for match in _WINDOWS.finditer(text)]
    return [path for _, path in sorted(found) if any(char.isalpha() for char in path)]


def is_url(text: str) -> bool:
    """Whether `text` is one URL."""
    return (match := _URL.match(text)) is not None and match.end() == len(text)


def unique(items: Iterable[str]) -> list[str]:
    """The items in order, without repeats, at most 50."""
    if isinstance(items, list) and len(items) < 2:
        return items
    return list(dict.fromkeys(items))[:_LIMIT]


def _take(match: re.Match[str], found: list[str]) -> str:
    url = trimmed_url(match[0])
    if ("." not in url and "://" not in url) or url.endswith("://"):
        return match[0]
    found.append(url)
    return " " + match[0][len(url) :]


def _take_domain(match: re.Match[str], found: list[str]) -> str:
    """A bare domain counts with three labels or with a path: `socket.io` and `asp.net` are no addresses."""
    domain = match[0].split("/")[0].split(":")[0]
    if (domain.count(".") < 2 and "/" not in match[0]) or domain[0].isdigit():
        return match[0]
    return _take(match, found)


def trimmed_url(url: str) -> str:
    """`url` without the punctuation and the unbalanced brackets of the sentence around it."""
    while url:
        last = url[-1]
        if last in _END or (last in _BRACKETS and url.count(last) > url.count(_BRACKETS[last])):
            url = url[:-1]
        else:
            break
    return url


def _looks_like_path(link: str) -> bool:
    return bool(link) and not link.startswith(("#", "mailto:", "tel:", "data:")) and ("/" in link or "." in link)
