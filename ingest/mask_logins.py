"""Secrets beside a login's name: `login: admin / SECRET`, `creds mira:SECRET`; keys of networks, recovery codes."""

import re
from collections.abc import Iterator

from .cues import lowered, word_set
from .mask_rules import Rule, Span, beside, matches_at, trimmed
from .mask_values import is_mixed, is_random, is_secret_value

_LINE_LEAD = r"[ \t>]{0,12}(?:(?:[-*+]|\d{1,2}[.)])[ \t]+)?[`\"'*_]{0,3}"
_OPEN = r"[*_`\"'“ \t]{0,4}+"
_VALUE = r"(?P<value>[\x21-\x7e]{4,256}+)"
_PAIR = re.compile(
    r"(?:(?<![a-z])(?:log-?in|sign-?in|credentials?|creds?|basic[ -]auth|wi-?fi|wlan)(?:[ \t]+(?:data|details))?"
    r"|(?:账号|帐号|账户|用户名?)(?:和|与|及|、|/)?(?:密码|口令)|登[录陆]|账号信息)"
    rf"[*_`\"']{{0,3}}[ \t]*(?:[:：=是为]|is(?![a-z])){_OPEN}(?P<name>[\w.@+-]{{2,64}}+)[*_`\"'”]{{0,3}}"
    rf"(?:[ \t]*[/|:：,，、][ \t]*|[ \t]+){_OPEN}{_VALUE}"
)
_SLASHED = re.compile(
    r"(?:(?:(?<![a-z])(?:log-?in|sign-?in|account|user(?:name)?)(?![a-z])|登[录陆]|账号|帐号|账户|用户名?)"
    r"[^\n:：/=|]{0,30}[:：=]|(?<![a-z])(?:log-?in|sign-?in|(?:credentials?|creds?)(?:[ \t](?:is|are|was|were))?)[ \t]"
    r"|登[录陆])"
    rf"{_OPEN}(?P<name>[\w.@+-]{{2,64}}+)[*_`\"']{{0,3}}[ \t]+/[ \t]+{_OPEN}{_VALUE}"
)
_ACCOUNTS = (
    "login", "log-in", "signin", "sign-in", "cred", "wifi", "wi-fi", "wlan", "账号", "帐号", "账户", "用户", "登录",
    "登陆", "basic auth", "basic-auth",
)  # fmt: skip
_METHODS = word_set("sso saml saml2 oauth oauth2 oidc ldap mfa 2fa totp passkey passkeys magic email sms")
"""Ways to log in, and no names of who does."""
_FILE_END = re.compile(r"\.[a-z]{2,5}\Z")
_USER_PASS = re.compile(
    r"(?<![a-z])(?:user(?:name)?|login|account)[ \t:=]{1,3}[\w.@+-]{2,64}+(?:[,;]?[ \t]{1,2}(?:and[ \t]|/[ \t])?)"
    rf"(?:pass|pw)[ \t:=]{{1,3}}{_VALUE}"
)
_NETWORK_KEY = re.compile(
    rf"(?:wi-?fi|wlan|ssid)(?![a-z])[^\n]{{0,60}}?(?<![a-z])(?:key|psk)[ \t]*[:：=]?{_OPEN}{_VALUE}"
)
_GLUED = re.compile(r"(?:密码|密碼|口令)(?P<value>[A-Za-z0-9][\x21-\x7e]{5,255}+)")
_RECOVERY = re.compile(
    r"(?:(?<![a-z])(?:recovery|backup|rescue|emergency|scratch|2fa|mfa)[ _-]?(?:codes?|keys?)(?![a-z])"
    r"|恢复码|恢复代码|恢复密钥|备用码|备份码|备用验证码|应急码)"
    r"[*_`\"']{0,3}[ \t]*(?:[:：=]|(?:is|are)(?![a-z])|是|为)[*_ \t]{0,4}"
)
_RESCUES = (
    "recovery", "backup", "rescue", "emergency", "scratch", "2fa", "mfa", "恢复", "备用", "备份码", "应急码",
)  # fmt: skip
_RECOVERY_CODE = re.compile(r"(?<![\w-])(?=[A-Za-z-]{0,100}\d)[A-Za-z0-9]{4,24}(?:-[A-Za-z0-9]{2,24}){0,7}(?![\w-])")
_RECOVERY_LINE = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,2}[.)])[ \t]*+)?[`\w \t,;-]{4,200}\Z")
_BETWEEN_CODES = re.compile(r"[\s,;/|`\"'*_()、，；]*(?:and|or|和)?[\s`\"'*_]*")
_MOST_LINES = 24
_CREDS = re.compile(
    r"(?:log-?ins?|credentials?|creds?)(?![a-z])(?:[ \t]{1,2}[\w.-]{1,20}){0,4}?[ \t]{0,2}[:：=]?[ \t]{1,2}"
    r"[`\"'“]?[\w.@+-]{2,64}:(?P<value>(?!/)[\x21-\x7e]{6,256}+)"
)
_BLANK = re.compile(
    rf"(?:log-?in|credentials?|creds?|登[录陆])[ \t]{{1,2}}[`\"'“]?[\w.@+-]{{2,64}}[`\"'”]?[ \t]{{1,2}}{_OPEN}{_VALUE}"
)
_LINES = re.compile(
    r"(?:log-?in|credentials?|creds?|账号密码|帐号密码|登[录陆]信息|账号信息)[^\n:：]{0,30}[:：][*_ \t\r]{0,4}\n"
    rf"{_LINE_LEAD}[\w.@+-]{{2,64}}[`\"'*_ \t\r]{{0,4}}\n{_LINE_LEAD}{_OPEN}{_VALUE}(?=[`\"'*_ \t\r]{{0,4}}(?:\n|\Z))"
)
_SIGN = re.compile(rf"[🔑🗝🔐][ \t]{{0,3}}[:：=]?{_OPEN}{_VALUE}")
_SIGNS = ("🔑", "🗝", "🔐")


def _pairs(text: str) -> Iterator[Span]:
    """`login: admin / SECRET`, `账号密码：admin SECRET`: the second of two words behind a key that announces both."""
    for match in matches_at(_PAIR, _ACCOUNTS, lowered(text)):
        value = trimmed(text, *match.span("value"))
        if match["name"] in _METHODS or (value.isdigit() and (len(value) < 6 or match["name"].isdigit())):
            continue
        if is_secret_value(value, "password", strict=True, alone=True):
            yield match.start("value"), match.start("value") + len(value), "password"


def _slashed(text: str) -> Iterator[Span]:
    """`login bob / SECRET`, `登录 nas：mira / SECRET`: made up, and not a second one of `step1 / step2`."""
    for match in matches_at(_SLASHED, (*_ACCOUNTS, "account", "user"), lowered(text)):
        value = trimmed(text, *match.span("value"))
        behind = match.start("value") + len(value)
        value += "!" if text[behind : behind + 1] == "!" else ""  # of a short one it may be a part
        name = match["name"].rstrip("0123456789")
        if (
            match["name"] not in _METHODS
            and is_mixed(value)
            and value.lower().rstrip("0123456789") != name
            and not _FILE_END.search(value)
            and is_secret_value(value, "password", strict=len(value) > 5, alone=True)
        ):
            yield match.start("value"), match.start("value") + len(value), "password"


def _recovery(text: str) -> Iterator[Span]:
    """Codes behind `recovery codes:`, on its line and in the list right below."""
    looked = 0
    for match in matches_at(_RECOVERY, _RESCUES, lowered(text)):
        at = match.end()
        if at < looked:  # its line was looked at with an earlier key
            continue
        for number in range(_MOST_LINES):
            end = text.find("\n", at)
            looked = end if end >= 0 else len(text)
            line = text[at:looked]
            found = list(_RECOVERY_CODE.finditer(line)) if number else _codes_of(line)
            if number and (not found or _RECOVERY_LINE.match(line) is None):
                break
            for code in found:
                yield at + code.start(), at + code.end(), "recovery_code"
            if end < 0 or (not found and line.strip()):
                break
            at = end + 1


def _codes_of(line: str) -> list[re.Match[str]]:
    """The codes of a key's own line: nothing but signs stands before and between them."""
    found: list[re.Match[str]] = []
    at = 0
    for code in _RECOVERY_CODE.finditer(line):
        if _BETWEEN_CODES.fullmatch(line, at, code.start()) is None:
            break
        found.append(code)
        at = code.end()
    return found


BY_LOGIN: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (_ACCOUNTS, _pairs),
    ((" / ",), _slashed),
    (("pass", "pw"), beside(_USER_PASS, ("user", "login", "account"), lower=True)),
    (("wifi", "wi-fi", "wlan", "ssid"), beside(_NETWORK_KEY, ("wifi", "wi-fi", "wlan", "ssid"), lower=True)),
    (("密码", "密碼", "口令"), beside(_GLUED, ("密码", "密碼", "口令"))),
    (_RESCUES, _recovery),
    (("login", "log-in", "cred"), beside(_CREDS, ("login", "log-in", "cred"), lower=True)),
    (("login", "log-in", "cred", "登录", "登陆"), beside(_BLANK, ("login", "log-in", "cred", "登"), fits=is_random)),
    (("login", "log-in", "cred", "账号", "帐号", "登录", "登陆"),
     beside(_LINES, ("login", "log-in", "cred", "账号", "帐号", "登"), fits=is_random, lower=True)),
    (_SIGNS, beside(_SIGN, _SIGNS, fits=is_random)),
)  # fmt: skip
"""Rules like those of `mask_rules`: the needles that call for them, in lower case, and the rule."""
