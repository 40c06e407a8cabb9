"""Secrets that programs send: passwords in addresses, headers, cookies, and what is given to curl and sshpass."""

import re
from collections.abc import Iterator

from .cues import lowered
from .mask_rules import Rule, Span, matches_at
from .mask_values import KeyKind, is_mixed, is_placeholder, is_random, is_secret_value

_URL_PASSWORD = re.compile(r"://[^\s/:@?#]*:([^\s/]+)@(?=[\w\[.-])")
_BEARER = re.compile(r"(?<![a-z0-9])bearer\s+(?P<value>[a-z0-9._~+/-]{16,}+=*)")
_AUTHORIZATION = re.compile(
    r"(?<![a-z0-9])authorization[\"']?[ \t]*[:=][ \t]*[\"']?(?P<scheme>[a-z]{2,20}[ \t]+)?"
    r"(?P<value>[a-z0-9._~+/-]{16,}+=*)"
)
_MORE = re.compile(r"[ \t]+\w|[(\[]")
_CURL_USER = re.compile(r"\s(?:-u|--user)[ \t]+['\"]?[\w.@-]{1,80}:(?P<value>[^\s'\"]+)")
_CURL_COOKIE = re.compile(r"\s(?:-b|--cookie)[ \t=]+['\"]?(?=[\w.-]{1,64}=)")
_REACH = 400
"""So many characters before its flag the word curl may stand, on the same line."""
_SSHPASS = re.compile(r"sshpass\s+-p\s*['\"]?(?P<value>[^\s'\"]+)")
_COOKIE = re.compile(r"cookies?[\"'\]]{0,2}[ \t]*(?:[:=]|->)[ \t]*[\"'`({\[]{0,3}")
_CRUMB = re.compile(
    r"[ \t\"'{(,]{0,4}(?P<name>[\w.~!#$%&*+^|-]{1,64})[\"']?[ \t]*[=:][ \t]*[\"']?(?P<value>[^\s;,\"'`]{0,4096}+)"
    r"[^;,\n]{0,80}+[;,]?"
)
_MOST_CRUMBS = 40
_SESSION = re.compile(
    r"sess|sid(?![a-z])|auth|token|log-?in|remember|jwt|csrf|xsrf|ticket|__(?:host|secure)-|\.asp|secret|user_?key"
)
_NAMED = re.compile(
    r"(?:phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|laravel_session|sessionid|session_id)[\"']?=[\"']?"
    r"(?P<value>[\w.%+/~-]{12,512}+)"
)
_NAMES = ("phpsessid", "jsessionid", "asp.net_sessionid", "connect.sid", "laravel_session", "sessionid", "session_id")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _in_url(text: str) -> Iterator[Span]:
    for match in _URL_PASSWORD.finditer(text):
        if not is_placeholder(match[1]) and not match[1].startswith("[masked:"):
            yield match.start(1), match.end(1), "url_password"


def _headers(text: str) -> Iterator[Span]:
    """`Authorization: Basic SECRET`, `"authorization": "SECRET"`, `bearer SECRET`."""
    lower = lowered(text)
    for match in matches_at(_BEARER, ("bearer",), lower):
        yield from _judged(text, match, "token")
    for match in matches_at(_AUTHORIZATION, ("authorization",), lower):
        if match["scheme"] or (is_mixed(match["value"]) and not _MORE.match(lower, match.end())):
            yield from _judged(text, match, "token")


def _judged(text: str, match: re.Match[str], kind: KeyKind) -> Iterator[Span]:
    start, end = match.span("value")
    if is_secret_value(text[start:end], kind, strict=False, alone=True):
        yield start, end, kind


def _sshpass(text: str) -> Iterator[Span]:
    for match in matches_at(_SSHPASS, ("sshpass",), text):
        yield from _judged(text, match, "password")


def _curl(text: str) -> Iterator[Span]:
    for match in _CURL_USER.finditer(text):
        if _is_of_curl(text, match.start()):
            yield from _judged(text, match, "password")
    for match in _CURL_COOKIE.finditer(text):
        if _is_of_curl(text, match.start()):
            yield from _crumbs(text, match.end())[0]


def _is_of_curl(text: str, at: int) -> bool:
    return "curl" in text[max(0, at - _REACH) : at].rpartition("\n")[2]


def _cookies(text: str) -> Iterator[Span]:
    """The values of a cookie's header or list that open a session: `Cookie: session=SECRET`."""
    looked = 0
    for match in matches_at(_COOKIE, ("cookie",), lowered(text)):
        if match.end() >= looked:
            spans, looked = _crumbs(text, match.end())
            yield from spans


def _crumbs(text: str, at: int) -> tuple[list[Span], int]:
    """The secrets among `name=value; name=value`, and where these end."""
    spans: list[Span] = []
    for _ in range(_MOST_CRUMBS):
        match = _CRUMB.match(text, at)
        if match is None:
            break
        value = match["value"].rstrip("})]\\")
        opens = _SESSION.search(match["name"].lower()) is not None
        if _is_crumb(value, opens=opens):
            spans.append((match.start("value"), match.start("value") + len(value), "session_cookie"))
        at = match.end()
        if text[at - 1] not in ";,":
            break
    return spans, at


def _is_crumb(value: str, *, opens: bool) -> bool:
    """Whether a cookie's value is a secret; `opens`: its name is one of a session or a token."""
    if is_placeholder(value):
        return False
    if opens:
        return len(value) >= 6 and (value.isdigit() or is_mixed(value) or len(value) >= 20)
    return len(value) >= 16 and is_random(value)


def _sessions(text: str) -> Iterator[Span]:
    for match in matches_at(_NAMED, _NAMES, lowered(text)):
        value = match["value"]
        if is_mixed(value) and not is_placeholder(value) and not _UUID.fullmatch(value):
            yield match.start("value"), match.end("value"), "session_cookie"


BY_WEB: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (("://",), _in_url),
    (("bearer", "authorization"), _headers),
    (("curl",), _curl),
    (("sshpass",), _sshpass),
    (("cookie",), _cookies),
    (_NAMES, _sessions),
)
"""Rules like those of `mask_rules`: the needles that call for them, in lower case, and the rule."""
