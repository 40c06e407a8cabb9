"""Secrets beside a login's name or behind a code's: `login: admin / SECRET`, `PIN code 4482`, recovery codes."""

import re
from collections.abc import Iterator

from .cues import lowered, word_set
from .mask_rules import Rule, Span
from .mask_values import is_secret_value

_OPEN = r"[*_`\"'“ \t]{0,4}+"
_CLOSING = ".,;:!?)]}>*_|`\"'”"
_VALUE = r"(?P<value>[\x21-\x7e]{4,256}+)"
_PAIR = re.compile(
    r"(?:(?<![a-z])(?:log-?in|sign-?in|credentials?|creds?|basic[ -]auth|wi-?fi|wlan)(?:[ \t]+(?:data|details))?"
    r"|(?:账号|帐号|账户|用户名?)(?:和|与|及|、|/)?(?:密码|口令)|登[录陆]|账号信息)"
    rf"[*_`\"']{{0,3}}[ \t]*(?:[:：=是为]|is(?![a-z])){_OPEN}(?P<name>[\w.@+-]{{2,64}}+)[*_`\"'”]{{0,3}}"
    rf"(?:[ \t]*[/|:：,，、][ \t]*|[ \t]+){_OPEN}{_VALUE}"
)
_SLASHED = re.compile(
    r"(?:(?:(?<![a-z])(?:log-?in|sign-?in|account|user(?:name)?)(?![a-z])|登[录陆]|账号|帐号|账户|用户名?)"
    r"[^\n:：/=|]{0,30}[:：=]|(?<![a-z])(?:log-?in|sign-?in)[ \t]|登[录陆])"
    rf"{_OPEN}(?P<name>[\w.@+-]{{2,64}}+)[*_`\"']{{0,3}}[ \t]+/[ \t]+{_OPEN}{_VALUE}"
)
_FILE_END = re.compile(r"\.[a-z]{2,5}\Z")
_USER_PASS = re.compile(
    r"(?<![a-z])(?:user(?:name)?|login|account)[ \t:=]{1,3}[\w.@+-]{2,64}+(?:[,;]?[ \t]{1,2}(?:and[ \t]|/[ \t])?)"
    rf"(?:pass|pw)[ \t:=]{{1,3}}{_VALUE}"
)
_NETWORK_KEY = re.compile(
    rf"(?:wi-?fi|wlan|ssid)(?![a-z])[^\n]{{0,60}}?(?<![a-z])(?:key|psk)[ \t]*[:：=]?{_OPEN}{_VALUE}"
)
_GLUED = re.compile(r"(?:密码|密碼|口令)(?P<value>[A-Za-z0-9][\x21-\x7e]{5,255}+)")
_PLACE = r"(?:door|gate|alarm|entry|entrance|access|lock|locker|garage|safe|keypad|building|unlock|elevator|lift)"
_CODE = re.compile(
    rf"(?:(?<![A-Za-z0-9])(?:PIN|(?i:pin[ _-]?(?:code|number|no\.?|码)|passcode|{_PLACE}[ _-]?(?:code|pin)))"
    r"(?![A-Za-z])"
    r"|门禁码|门锁码|解锁码|开门码)"
    rf"{_OPEN}(?:[:：=]|(?:is|was)(?: now)?(?![a-z])|是|为)?{_OPEN}"
    r"(?P<value>[A-Za-z]?\d{4,12}[A-Za-z#*]?)(?![\w%]|[-/.:]\d)"
)
_CODE_NEEDLES = (
    "pin", "passcode", "门禁码", "门锁码", "解锁码", "开门码",
    *(f"{place} code" for place in ("door", "gate", "alarm", "entry", "entrance", "access", "lock", "locker", "garage",
                                    "safe", "keypad", "building", "unlock", "elevator", "lift")),
)  # fmt: skip
_RECOVERY = re.compile(
    r"(?:(?<![a-z])(?:recovery|backup|rescue|emergency|scratch|2fa|mfa)[ _-]?(?:codes?|keys?)(?![a-z])"
    r"|恢复码|恢复代码|恢复密钥|备用码|备份码|备用验证码|应急码)"
    r"[*_`\"']{0,3}[ \t]*(?:[:：=]|(?:is|are)(?![a-z])|是|为)[*_ \t]{0,4}"
)
_RECOVERY_CODE = re.compile(r"(?<![\w-])(?=[A-Za-z-]{0,100}\d)[A-Za-z0-9]{4,24}(?:-[A-Za-z0-9]{2,24}){0,7}(?![\w-])")
_RECOVERY_LINE = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,2}[.)])[ \t]*+)?[`\w \t,;-]{4,200}\Z")
_MOST_LINES = 24
_PHRASE = re.compile(
    r"(?:助记词|mnemonic|(?:seed|recovery)[ _-]?phrase)[*_`\"]{0,3}\s{0,4}(?:[:：=]|is(?![a-z])|是|为)?"
    r"\s{0,4}[*_`\"]{0,3}"
    r"(?:[-*][ \t]+|\d{1,2}[.)][ \t]*)?"
    r"(?P<words>[a-z]{3,8}(?:[ ,\n]{1,3}(?:[-*][ \t]+|\d{1,2}[.)][ \t]*)?[a-z]{3,8}){11,23})(?![a-z])",
    re.IGNORECASE,
)
_NO_PHRASE = word_set("the and for with from has was are not been our its but were his her than into them")
"""Words of sentences that no list of seed words has."""
_SUDO = re.compile(r"\becho[ \t]+['\"]?(?P<value>[^\s'\"|]{4,256})['\"]?[ \t]*\|[ \t]*sudo[ \t]+-S\b")
_ELEMENT = re.compile(
    r"(?i:<[\w:.-]{0,40}(?:password|passwd|pwd|secret|token|api[_-]?key)>)(?P<value>[^\s<>]{4,256})</", re.ASCII
)
_ARGUMENT = re.compile(
    r"(?i:['\"][\w.-]{0,40}(?:password|passwd|pwd|secret|token)['\"]),[ \t]*['\"](?P<value>[^\s'\"]{4,256})['\"]"
)
_SQL = re.compile(r"(?i:\bidentified by)[ \t]+['\"](?P<value>[^\s'\"]{4,256})['\"]")
_SHARE = re.compile(r"(?i:\bnet use)[ \t][^\n]{1,120}?[ \t](?P<value>[^\s/\\]{4,256})[ \t]+/user:")
_SAMBA = re.compile(r"\s-U[ \t]+['\"]?[\w.\\@-]{1,64}%(?P<value>[^\s'\"]{4,256})")


def _pairs(text: str) -> Iterator[Span]:
    """`login: admin / SECRET`, `账号密码：admin SECRET`: the second of two words behind a key that announces both."""
    for match in _PAIR.finditer(lowered(text)):
        value = _trimmed(text, match)
        if value.isdigit() and (len(value) < 6 or match["name"].isdigit()):
            continue
        if is_secret_value(value, "password", strict=True, alone=True):
            yield match.start("value"), match.start("value") + len(value), "password"


def _slashed(text: str) -> Iterator[Span]:
    """`login bob / SECRET`, `登录 nas：mira / SECRET`: made up, and not a second one of `step1 / step2`."""
    for match in _SLASHED.finditer(lowered(text)):
        value = _trimmed(text, match)
        behind = match.start("value") + len(value)
        value += "!" if text[behind : behind + 1] == "!" else ""  # of a short one it may be a part
        name = match["name"].rstrip("0123456789")
        if (
            _is_mixed(value)
            and value.lower().rstrip("0123456789") != name
            and not _FILE_END.search(value)
            and is_secret_value(value, "password", strict=len(value) > 5, alone=True)
        ):
            yield match.start("value"), match.start("value") + len(value), "password"


def beside(pattern: re.Pattern[str], *, mixed: bool = True, lower: bool = False) -> Rule:
    """The value of a pattern, if it looks made up; `mixed` = it needs letters and digits."""

    def rule(text: str) -> Iterator[Span]:
        for match in pattern.finditer(lowered(text) if lower else text):
            value = _trimmed(text, match)
            if (_is_mixed(value) or not mixed) and is_secret_value(value, "password", strict=True, alone=True):
                yield match.start("value"), match.start("value") + len(value), "password"

    return rule


def _codes(text: str) -> Iterator[Span]:
    for match in _CODE.finditer(text):
        yield match.start("value"), match.end("value"), "password"


def _recovery(text: str) -> Iterator[Span]:
    """Codes behind `recovery codes:`, on its line and in the list right below."""
    looked = 0
    for match in _RECOVERY.finditer(lowered(text)):
        at = match.end()
        if at < looked:  # its line was looked at with an earlier key
            continue
        for number in range(_MOST_LINES):
            end = text.find("\n", at)
            looked = end if end >= 0 else len(text)
            line = text[at:looked]
            found = list(_RECOVERY_CODE.finditer(line))
            if number and (not found or _RECOVERY_LINE.match(line) is None):
                break
            for code in found:
                yield at + code.start(), at + code.end(), "recovery_code"
            if end < 0:
                break
            at = end + 1


def _phrase(text: str) -> Iterator[Span]:
    for match in _PHRASE.finditer(text):
        if _NO_PHRASE.isdisjoint(re.findall("[a-z]+", match["words"].lower())):
            yield match.start("words"), match.end("words"), "seed_phrase"


def _is_mixed(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _trimmed(text: str, match: re.Match[str]) -> str:
    value = text[match.start("value") : match.end("value")]
    return re.split(r"[,;`\"']", value, maxsplit=1)[0].rstrip(_CLOSING)


BY_LOGIN: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (("login", "log-in", "signin", "sign-in", "cred", "wifi", "wi-fi", "wlan", "账号", "帐号", "账户", "用户", "登录",
      "登陆", "basic auth", "basic-auth"), _pairs),
    ((" / ",), _slashed),
    (("pass", "pw"), beside(_USER_PASS, lower=True)),
    (("wifi", "wi-fi", "wlan", "ssid"), beside(_NETWORK_KEY, lower=True)),
    (("密码", "密碼", "口令"), beside(_GLUED)),
    (_CODE_NEEDLES, _codes),
    (("recovery", "backup", "rescue", "emergency", "scratch", "2fa", "mfa", "恢复", "备用", "备份码", "应急码"),
     _recovery),
    (("助记词", "mnemonic", "phrase"), _phrase),
    (("sudo",), beside(_SUDO, mixed=False)),
    (("</",), beside(_ELEMENT, mixed=False)),
    (("pass", "pwd", "secret", "token"), beside(_ARGUMENT)),
    (("identified by",), beside(_SQL, mixed=False)),
    (("net use",), beside(_SHARE)),
    (("%",), beside(_SAMBA, mixed=False)),
)  # fmt: skip
"""Rules like those of `mask_rules`: the needles that call for them, in lower case, and the rule."""
