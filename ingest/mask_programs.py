"""Secrets given to programs and written in code: `mysql -pSECRET`, `<token>SECRET</token>`."""

import re
from collections.abc import Iterator

from .mask_rules import Rule, Span, beside, matches_at
from .mask_values import is_secret_value

_REACH = 200
"""So many characters before a flag its program may stand, on the same line."""
_FLAG = re.compile(
    r"\s-(?:p(?P<attached>[^\s'\"`-][^\s'\"`]{3,255})|(?P<flag>[pa])[ \t]+['\"]?(?P<apart>[^\s'\"`]{4,256}))"
)
_ATTACHED = re.compile(r"\b(?:mysql\w*|mariadb[\w-]*)\b")
_APART = {"p": re.compile(r"\blogin\b"), "a": re.compile(r"\bredis-cli\b")}
_SUDO = re.compile(r"echo[ \t]+['\"]?(?P<value>[^\s'\"|]{4,256})['\"]?[ \t]*\|[ \t]*sudo[ \t]+-S\b")
_ELEMENT = re.compile(
    r"(?i:<[\w:.-]{0,40}(?:password|passwd|pwd|secret|token|api[_-]?key)>)(?P<value>[^\s<>]{4,256})</", re.ASCII
)
_ARGUMENT = re.compile(
    r"(?i:['\"][\w.-]{0,40}(?:password|passwd|pwd|secret|token)['\"]),[ \t]*['\"](?P<value>[^\s'\"]{4,256})['\"]"
)
_SQL = re.compile(r"identified by[ \t]+['\"](?P<value>[^\s'\"]{4,256})['\"]")
_SHARE = re.compile(r"net use[ \t][^\n]{1,120}?[ \t](?P<value>[^\s/\\]{4,256})[ \t]+/user:")
_SAMBA = re.compile(r"\s-U[ \t]+['\"]?[\w.\\@-]{1,64}%(?P<value>[^\s'\"]{4,256})")


def _flags(text: str) -> Iterator[Span]:
    """`mysql -pSECRET`, `docker login -p SECRET`, `redis-cli -a SECRET`."""
    for match in matches_at(_FLAG, (" -p", " -a", "\t-p", "\t-a", "\n-p", "\n-a"), text):
        near = text[max(0, match.start() - _REACH) : match.start()].rpartition("\n")[2]
        group = "attached" if match["attached"] else "apart"
        program = _ATTACHED if match["attached"] else _APART[match["flag"]]
        value = match[group]
        if program.search(near) and is_secret_value(value, "password", strict=True, alone=True):
            yield match.start(group), match.end(group), "password"


def _any(value: str) -> bool:
    return bool(value)


BY_PROGRAM: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (("mysql", "mariadb", "login", "redis-cli"), _flags),
    (("sudo",), beside(_SUDO, ("echo",), fits=_any)),
    (("</",), beside(_ELEMENT, fits=_any)),
    (("pass", "pwd", "secret", "token"), beside(_ARGUMENT)),
    (("identified by",), beside(_SQL, ("identified by",), fits=_any, lower=True)),
    (("net use",), beside(_SHARE, ("net use",), lower=True)),
    (("%",), beside(_SAMBA, fits=_any)),
)
"""Rules like those of `mask_rules`: the needles that call for them, in lower case, and the rule."""
