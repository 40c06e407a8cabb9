"""Secrets in digits: codes of doors and PINs, one-time codes, payment cards, numbers that prove who somebody is."""

import re
from collections.abc import Iterator

from .cues import lowered
from .mask_rules import HAN_END, Rule, Span, matches_at

_PLACES = (
    "door", "gate", "alarm", "entry", "entrance", "access", "lock", "locker", "garage", "safe", "keypad", "building",
    "unlock", "elevator", "lift",
)  # fmt: skip
_OPEN = r"[*_`\"'“”「」【】 \t]{0,4}+"
_IS = r"(?:[:：=]|(?:is|was)(?: now)?(?![a-z])|(?:还|就|现在)?是|为)"
_CODE_BEFORE = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(_PLACES)})[ _-]?\Z")
_CODE = re.compile(rf"(?:code|pin)(?![a-z]){_OPEN}{_IS}?{_OPEN}(?P<value>[a-z]?\d{{4,12}}[a-z#*]?)(?![\w%]|[-/.:]\d)")
_PIN = re.compile(
    rf"(?:PIN|(?i:pin)[ _-]?(?i:code|number|no\.?|码)|(?i:passcode))(?![A-Za-z]){_OPEN}{_IS}?{_OPEN}"
    r"(?P<value>[A-Za-z]?\d{4,12}[A-Za-z#*]?)(?![\w%]|[-/.:]\d)"
)
_HAN_DOOR = re.compile(
    rf"(?:门禁码|门锁码|解锁码|开门码){_OPEN}{_IS}?{_OPEN}(?P<value>[A-Za-z]?\d{{4,12}}[A-Za-z#*]?)(?![\w%]|[-/.:]\d)"
)
_DIGITS = r"(?:[a-z]{1,3}-)?(?:\d{4,8}|\d{3}[ -]\d{3})"
_ONCE = r"verification|security|one[ -]time|log-?in|sign-?in|authentication|authenticator|2fa|mfa|two-factor|otp|sms"
_ONCE_BEFORE = re.compile(
    rf"(?:(?<![a-z0-9])(?:{_ONCE})|(?<![a-z])your(?: (?!zip|area|post)(?P<name>[a-z]{{2,16}}))?)[ -]?(?:pass)?\Z"
)
_ONCE_CODE = re.compile(
    rf"(?:code|pin|otp){_OPEN}(?:[:：=]|(?:is|was)(?: now)?(?![a-z]))?{_OPEN}(?P<value>{_DIGITS})(?![\w%]|[-/.:]\d)"
    r"(?=[`\"'”*_)]{0,3}[ \t]*(?:\Z|[\n\r.,;:!?)(，。；！—-]|(?:for|to|valid|expires?|do|don|and|or|within)\b))"
)
_OTP = re.compile(
    rf"(?:otp|totp){_OPEN}(?:[:：=]|is(?![a-z])){_OPEN}(?P<value>{_DIGITS})(?![\w%]|[-/.:]\d)"
    rf"|otp[ \t](?P<bare>\d{{6,8}})(?![\w%]|[-/.:]\d)"
)
_SAID_BEFORE = re.compile(
    rf"(?<![\w.])(?P<value>{_DIGITS})[`\"'”*_]{{0,3}} (?:is|as|for) (?:your|the|my) "
    r"(?P<which>(?:[\w-]{1,20} ){0,3})(?:pass)?\Z"
)
_USED = re.compile(
    rf"(?:use|enter|type)(?: the)?(?: code)? (?P<value>{_DIGITS})[`\"'”*_]{{0,3}} to (?:sign|log|verify|authenticate"
    r"|confirm|complete|finish|continue|reset|unlock)\b"
)
_OF_ONCE = re.compile(_ONCE)
_HAN_CODE = re.compile(
    rf"(?:验证码|校验码|动态码|动态密码|动态口令|一次性密码|一次性口令|短信码){_OPEN}(?P<sign>{_IS})?{_OPEN}"
    r"(?P<value>\d{4,8}|\d{3}[ -]\d{3}|(?=[A-Z]{0,7}\d)[A-Z0-9]{4,8})(?![\w%]|[-/.:]\d)"
    r"(?![ \t]*(?:秒|分|位|次|个|条|元|人|年|月|天|小时|毫秒|字|种|行|ms|s\b))"
)
_HAN_BEFORE = re.compile(
    r"(?<![\w.-])(?P<value>\d{4,8}|\d{3}[ -]\d{3})[”」`*]{0,3}[ \t]?(?:[（(]|(?:就?是|为)[^，。；：:\n\d]{0,12})\Z"
)
_HAN_CODES = ("验证码", "校验码", "动态码", "动态密码", "动态口令", "一次性密码", "一次性口令", "短信码")
_CARD = re.compile(r"[2-6]\d{3}([ -])(?:\d{4}\1\d{4}\1\d{1,7}|\d{6}\1\d{4,5})(?!\d)(?![-./:]\d)")
_BARE_CARD = re.compile(r"[2-6]\d{12,18}(?!\d)")
_CARD_WORDS = re.compile(
    r"(?<![a-z])(?:(?:credit|debit|bank|payment)?[ -]?cards?(?: number| no\.?)?|visa|master-?card|amex|maestro"
    r"|american express|kreditkarte|carte|tarjeta)(?![a-z])|银行卡|信用卡|储蓄卡|借记卡|卡号"
)
_NO_CARD = re.compile(
    r"(?<![a-z])(?:orders?|tracking|invoice|ticket|parcel|shipment|serial|test|example|isbn|ean|imei)(?![a-z])"
    r"|(?<![a-z])(?:bestell|auftrag|sendung|lieferung|rechnung|pedido|commande|factur)|订单|运单|快递|单号|流水|发票|测试|序列"
)
_CARD_REACH = 48
_CVV = re.compile(rf"(?:cvv2?|cvc2?|安全码)(?![a-z0-9]){_OPEN}{_IS}?{_OPEN}(?P<value>\d{{3,4}})(?![\w%]|[-/.:]\d)")
_IDENTITY = re.compile(r"[1-9]\d{16}[\dXx](?![0-9A-Za-z])")
_IDENTITY_WORDS = ("身份证", "证件号", "id card", "identity card", "identity number", "id number", "身份號")
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_SOCIAL = re.compile(
    r"(?:ssn|social security(?: number| no\.?)?)(?![a-z])[^\d\n]{0,12}(?P<value>\d{3}-\d{2}-\d{4})(?![\w-])"
)


def _codes(text: str) -> Iterator[Span]:
    """`door code 4482`, `PIN 4482`, `门禁码 4482`."""
    lower = lowered(text)
    for match in matches_at(_CODE, ("code", "pin"), lower):
        if _CODE_BEFORE.search(lower[max(0, match.start() - 12) : match.start()]):
            yield (*match.span("value"), "password")
    for match in matches_at(_PIN, ("PIN", "pin", "Pin", "passcode", "Passcode", "PASSCODE"), text):
        if not (text[match.start() - 1 : match.start()].isalnum() and text[match.start() - 1].isascii()):
            yield (*match.span("value"), "password")
    if not text.isascii():
        for match in matches_at(_HAN_DOOR, ("门", "解锁码", "开门码"), text):
            yield (*match.span("value"), "password")


def _one_time(text: str) -> Iterator[Span]:
    """`your code is 482913`, `OTP: 482913`, `482913 is your verification code`."""
    lower = lowered(text)
    for match in matches_at(_ONCE_CODE, ("code", "pin"), lower):
        begin = max(0, match.start() - 40)
        before = _ONCE_BEFORE.search(lower[begin : match.start()])
        if before is not None and _is_name(text[begin : match.start()], before):
            yield (*match.span("value"), "one_time_code")
    at = lower.find("code")
    while at >= 0:
        said = _SAID_BEFORE.search(lower[max(0, at - 60) : at])
        if said is not None and _is_once(lower, at, said):
            start = max(0, at - 60) + said.start("value")
            yield start, start + len(said["value"]), "one_time_code"
        at = lower.find("code", at + 4)
    for match in matches_at(_USED, ("use ", "enter ", "type "), lower):
        yield (*match.span("value"), "one_time_code")
    for match in matches_at(_OTP, ("otp", "totp"), lower):
        if not lower[match.start() - 1 : match.start()].isalnum():
            yield (*match.span("value" if match["value"] else "bare"), "one_time_code")


def _is_name(text: str, before: re.Match[str]) -> bool:
    """Whether what stands between `your` and `code` is a service's name: `your Acme code`, not `your party code`."""
    if before["name"] is None:
        return True
    name = text[before.start("name") : before.end("name")]
    return (name[0].isupper() and not name.isupper()) or _OF_ONCE.match(name.lower()) is not None


def _is_once(lower: str, at: int, said: re.Match[str]) -> bool:
    if _OF_ONCE.search(said["which"]):
        return True
    return said[0].endswith("your ") and not lower[at + 4 : at + 5].isalnum()


def _one_time_han(text: str) -> Iterator[Span]:
    for match in matches_at(_HAN_CODE, _HAN_CODES, text):
        if match["sign"] or match["value"].replace(" ", "").isdigit():
            yield (*match.span("value"), "one_time_code")
    for needle in _HAN_CODES:
        at = text.find(needle)
        while at >= 0:
            said = _HAN_BEFORE.search(text[max(0, at - 40) : at])
            if said is not None and HAN_END.match(text, at + len(needle)):
                start = max(0, at - 40) + said.start("value")
                yield start, start + len(said["value"]), "one_time_code"
            at = text.find(needle, at + 1)


def _cards(text: str) -> Iterator[Span]:
    """Grouped digits of a card, and bare ones beside a word for one; their checksum has to be right."""
    for match in _CARD.finditer(text):
        if not _is_glued(text, match.start()) and _is_card(match[0]) and not _NO_CARD.search(_near(text, match)):
            yield match.start(), match.end(), "payment_card"


def _bare_cards(text: str) -> Iterator[Span]:
    for match in _BARE_CARD.finditer(text):
        near = _near(text, match)
        named = _CARD_WORDS.search(near) and not _NO_CARD.search(near)
        if named and not _is_glued(text, match.start()) and _is_card(match[0]):
            yield match.start(), match.end(), "payment_card"


def _is_glued(text: str, at: int) -> bool:
    before = text[at - 1 : at] if at else ""
    return before.isdigit() or before in ("-", ".", "_", "#") or (before.isalpha() and before.isascii())


def _near(text: str, match: re.Match[str]) -> str:
    """What stands around a number on its line, in lower case."""
    before = text[max(0, match.start() - _CARD_REACH) : match.start()].rpartition("\n")[2]
    return (before + " " + text[match.end() : match.end() + _CARD_REACH].partition("\n")[0]).lower()


def _is_card(number: str) -> bool:
    """Whether digits begin like a card of a known network and have a right checksum (Luhn)."""
    digits = [int(char) for char in number if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 2:
        return False
    head = int("".join(map(str, digits[:4])))
    network = (
        4000 <= head < 5000 or 5100 <= head < 5600 or 2221 <= head < 2721 or 3400 <= head < 3500
        or 3700 <= head < 3800 or head == 6011 or 6440 <= head < 6600 or 6200 <= head < 6300 or 3528 <= head < 3590
        or 3000 <= head < 3060 or 3600 <= head < 3700 or 3800 <= head < 3900 or 5000 <= head < 5100
        or 5600 <= head < 5900
    )  # fmt: skip
    doubled = (sum(divmod(2 * digit, 10)) if place % 2 else digit for place, digit in enumerate(reversed(digits)))
    return network and sum(doubled) % 10 == 0


def _security_codes(text: str) -> Iterator[Span]:
    for match in matches_at(_CVV, ("cvv", "cvc", "安全码"), lowered(text)):
        yield (*match.span("value"), "payment_card")


def _identity(text: str) -> Iterator[Span]:
    """A Chinese identity number with a right checksum, near a word for it."""
    for match in _IDENTITY.finditer(text):
        near = _near(text, match)
        named = any(word in near for word in _IDENTITY_WORDS)
        if named and not _is_glued(text, match.start()) and _is_identity(match[0]):
            yield match.start(), match.end(), "identity_number"


def _is_identity(number: str) -> bool:
    """Whether the last of 18 digits is the checksum of the others (ISO 7064, modulo 11)."""
    rest = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, number, strict=False)) % 11
    return "10X98765432"[rest] == number[17].upper()


def _social(text: str) -> Iterator[Span]:
    for match in matches_at(_SOCIAL, ("ssn", "social security"), lowered(text)):
        yield (*match.span("value"), "identity_number")


BY_NUMBER: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (("pin", "passcode", "code", "门禁码", "门锁码", "解锁码", "开门码"), _codes),
    (("code", "otp", "to sign", "to log", "to verify", "to confirm"), _one_time),
    (_HAN_CODES, _one_time_han),
    (("card", "visa", "amex", "maestro", "american express", "kreditkarte", "carte", "tarjeta", "卡"), _bare_cards),
    (("cvv", "cvc", "安全码"), _security_codes),
    (_IDENTITY_WORDS, _identity),
    (("ssn", "social security"), _social),
)
"""Rules like those of `mask_rules`: the needles that call for them, in lower case, and the rule."""
ALWAYS_NUMBERS: tuple[Rule, ...] = (_cards,)
