"""Numbers beside units of time: digits, words of English, Chinese numerals, `a couple`, `few`, `几`."""

import re

_SMALL = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = (
    {word: value for value, word in enumerate(_SMALL, 1)}
    | {word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)}
    | {"a": 1, "an": 1, "couple": 2}
)
_VAGUE = {"few", "several", "几", "数", "好几"}
_BELOW_HUNDRED = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_SMALL[:9])}))?|{'|'.join(reversed(_SMALL))})"
_HUNDREDS = rf"(?:a|{'|'.join(_SMALL[:9])}) hundred(?: (?:and )?{_BELOW_HUNDRED})?"

COUNT = (
    rf"(?<![\d.,-])\b(?<!half )(?<!hundred )(?<!hundred and )(?<!thousand )"
    rf"(?P<count>(?:(?:\d{{1,2}}|{'|'.join(_SMALL[:9])})(?: ?[-–] ?| or | to ))?(?:\d{{1,4}}|{_HUNDREDS}"
    rf"|{_BELOW_HUNDRED}|(?:an? |the )?(?:couple|few)(?: of)?|several|an?))"
)
"""A count in English, all of it; or two of them, `two or three`."""
HAN_COUNT = r"(?<![\d.,第点-])(?P<count>\d{1,2} ?[-–~到至] ?\d{1,2}|\d{1,4}|好几|[几数])"
"""A count in Chinese, once `with_digits` has been there."""

_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
)  # fmt: skip
_RANKS = (
    {word: value for value, word in enumerate(_ORDINALS, 1)}
    | {f"twenty-{word}": 20 + value for value, word in enumerate(_ORDINALS[:9], 1)}
    | {"twentieth": 20, "thirtieth": 30, "thirty-first": 31, "last": -1, "最后1": -1}
)
ORDINAL = "|".join(sorted(_RANKS.keys() - {"last", "最后1"}, key=len, reverse=True))
"""`first` to `thirty-first`."""

_HAN_DIGITS = {"零": 0, "〇": 0, "两": 2} | {digit: value for value, digit in enumerate("一二三四五六七八九", 1)}
_HAN_TENS = {"十": 10, "廿": 20, "卅": 30, "百": 100}
_HAN_LARGE = {*_HAN_TENS}
_SIMPLIFIED = str.maketrans(
    "週個兩後號這禮從來開鐘頭時過現節國慶聖誕勞動兒童婦師萬雙幾數於間",
    "周个两后号这礼从来开钟头时过现节国庆圣诞劳动儿童妇师万双几数于间",
)
"""The traditional characters that words of time are written with."""
_HAN_NUMBER = re.compile(
    "(?<![周期拜])[零〇一二两三四五六七八九十百廿卅]{1,6}(?=[月日号天年周]|(?:个?半?)(?:月|年|星期|礼拜|小时|钟头)|个?周|分钟|季度)"
)


_LOOKALIKES = str.maketrans("ſıİ\u212a", "siIK")


def plain_letters(text: str) -> str:
    """`text` with plain letters for those four that patterns without case take for i, k and s: a Turkish `Aprıl`."""
    return text if text.isascii() else text.translate(_LOOKALIKES)


def with_digits(text: str) -> str:
    """`text` with words of time in simplified characters, and the Chinese numerals before a unit of time as digits.

    That of a weekday (`周一`) stays. `两月` is always a count, never a month's name.
    """
    simplified = text.translate(_SIMPLIFIED).replace("两月", "两个月")
    return _HAN_NUMBER.sub(lambda match: _han_value(match.group()), simplified)


def counted(text: str) -> tuple[int, int]:
    """The least and the most that a count of either language says: `few` and `几` are 2 to 5."""
    if len(both := _BETWEEN.split(text.casefold())) == 2:
        return min(map(_exact, both)), max(map(_exact, both))
    words = re.findall(r"\w+", text.casefold())
    if not _VAGUE.isdisjoint(words):
        return 2, 5
    exact = _exact(text)
    return exact, exact


def _exact(text: str) -> int:
    words = re.findall(r"\w+", text.casefold())
    total = 0
    for word in words:
        total = max(total, 1) * 100 if word == "hundred" else total + (int(word) if word.isdigit() else _value(word))
    return 2 if "couple" in words else total


_BETWEEN = re.compile(r" ?[-–~到至] ?(?=\d)| or | to ")


def rank_of(text: str) -> int:
    """1 for `first`, `1st` or `第1`; -1 for `last` and `最后1`."""
    word = text.casefold()
    return _RANKS[word] if word in _RANKS else int("".join(filter(str.isdigit, word)) or 0)


def _value(word: str) -> int:
    return _VALUES.get(word, 0)


def _han_value(text: str) -> str:
    if not _HAN_LARGE & {*text}:
        digits = [_HAN_DIGITS[digit] for digit in text]
        # `两三天`: about so many.
        about = len(digits) == 2 and 0 < digits[0] == digits[1] - 1
        return ("-" if about else "").join(map(str, digits))
    total = digit = 0
    for each in text:
        if each in _HAN_DIGITS:
            digit = _HAN_DIGITS[each]
        else:
            total, digit = total + _HAN_TENS[each] * (digit or 1), 0
    return str(total + digit)
