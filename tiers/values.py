"""What one sentence sets to a value: `The port of kestrel is 8081` and `… is 8082` cannot both be current.

Only whole sentences about what has one value at a time, and only values with a digit: a clause more, a second value
or a measurement that is merely another one the next day, and nothing is judged. English and Chinese.
"""

import re
from typing import NamedTuple

_NAMES = (
    "port|version|timeout|deadline|due date|release date|address|ip|extension|interval|retention|quota|limit"
    "|threshold|budget"
)
_HAN_NAMES = "端口|版本|超时|截止日期|截止时间|发布日期|地址|上限|限额|阈值|间隔|预算"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:,? \d{4})?"
_UNIT = "ms|s|min|h|d|seconds?|minutes?|hours?|days?|weeks?|months?|years?|kb|mb|gb|tb|%|eur|usd|euros?|dollars?"
_VALUE = rf"(?P<value>{_MONTH}|[$€£]?v?\d[a-z0-9.:/_-]*(?:\s?(?:{_UNIT}))?)"
_ENGLISH = re.compile(
    rf"(?:(?:the|our|my)\s+)?(?P<what>(?:[^\s,;:.!?=]+\s+)*?(?:{_NAMES})(?:\s+(?:of|for|on|in)(?:\s+[^\s,;:.!?=]+)+?)?)"
    rf"(?:\s+is(?:\s+(?:now|currently|set\s+to))*\s+|\s*[:=]\s+){_VALUE}[.!]*",
    re.IGNORECASE,
)
_HAN = re.compile(
    rf"(?P<what>[\u4e00-\u9fffA-Za-z0-9 _-]*?(?:{_HAN_NAMES})号?)"
    r"\s*(?:现在|目前|已经|已)*(?:是|为|改为|改成|设为|[:：=])\s*(?P<value>v?\d[A-Za-z0-9.:/_%-]*(?:\s?(?:[年月日号天时点分秒元]\d*)+)?)[。！]*",
    re.IGNORECASE,
)
_OWNED = re.compile(rf"(?P<who>.+?)(?:['’]s)?\s+(?P<name>{_NAMES})", re.IGNORECASE)
_OF = re.compile(rf"(?P<name>{_NAMES})\s+(?:of|for|on|in)\s+(?:the\s+)?(?P<who>.+)", re.IGNORECASE)
_QUALIFIERS = """
the a an our its my this that each every of for on in per and to default standard usual max maximum min minimum
upper lower top hard soft total overall average avg mean median peak base initial final first second third last
next previous prev current new old now hourly daily weekly monthly quarterly yearly annual annually rate time api
size count number memory disk cpu request requests response connection connections connect read write idle session
retry cache lock page upload download file global local general common own effective recommended allowed required
estimated planned actual official latest stable minor major public private internal external main primary secondary
backup http https tcp udp ssh sql db database server service host user url web email mail phone home work
word character letter speed age room person guest lunch dinner breakfast meal meeting event trip everything everyone
"""
_DEPENDING = """
his her hers their theirs your yours its someone somebody nobody anyone anybody everybody else other others another
same these those this that each every any some one here there today tomorrow yesterday tonight morning afternoon evening
night day days weekday weekdays week weeks weekend weekends holiday holidays
month months year years quarter q1 q2 q3 q4 spring summer autumn fall winter
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
mondays tuesdays wednesdays thursdays fridays saturdays sundays
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
"""
_GENERIC = frozenset(_QUALIFIERS.split()) | frozenset(re.findall(r"\w+", _NAMES))
_WHO_KNOWS = frozenset(_DEPENDING.split())
"""With one of these it is whose, or of when, the lines around say: two such values may both hold."""
_HAN_WHO_KNOWS = re.compile(
    "[他她它牠你您其某谁这那另各]|[别旁]人|有人|大家|人家|同一|对方|[今明昨后前当][天日年晚早]|去年|[本上下这每]个?(?:周|月|年|季|星期|礼拜)"
    r"|周[一二三四五六日天末]|星期|礼拜|[\d一二三四五六七八九十正腊]月|季度|上午|下午|晚上|早上|中午|春|夏|秋|冬"
)
_HAN_GENERIC = re.compile(
    rf"{_HAN_NAMES}|默认|缺省|标准|最大|最小|最高|最低|最长|最短|最新|每小时|每日|每天|每周|每月|每季度|每年|[年月周日]度?|平均"
    "|总|新|旧|老|软|硬|第[一二三四五两]|首个?|主|备|速率|频率|请求|响应|连接|读取?|写入?|时间|时长|接口|内存|磁盘|数据库|服务器"
    "|服务|用户|房间|字数|字符|人数|年龄|速度|早餐|午餐|晚餐|会议|公网|内网|外网|本地|全局|当前|现在|目前|我们|我|该|这个?|那个?|个|的|号"
)
_HAN_WORDS = re.compile(r"[\u4e00-\u9fff]+")
_WORD = re.compile(r"[^\W\d_][^\W_]+")
_DIGIT = re.compile(r"\d")
_NEAR_END = 16
_LONGEST = 300
"""A longer text is more than one sentence that sets a value; the patterns take more than linear time."""
_MONTH_NAME = re.compile(r"^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?=\d)")
_UNIT_NAMES = {
    r"[€](.+)": r"\1eur", r"[$](.+)": r"\1usd", r"(.*\d)euros?": r"\1eur", r"(.*\d)dollars?": r"\1usd",
    r"(.*\d)(?:secs?|seconds?)": r"\1s", r"(.*\d)(?:mins|minutes?)": r"\1min", r"(.*\d)(?:hrs?|hours?)": r"\1h",
    r"(.*\d)days?": r"\1d", r"(.*\d)(week|month|year)s": r"\1\2", r"(.*\d)号": r"\1日",
}  # fmt: skip
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_FRESH = re.compile(r"\b(?:new|current|now)\s+|^(?:现在|目前|新)的?", re.IGNORECASE)


class Setting(NamedTuple):
    """What has which value; `owned` if the sentence says whose it is.

    `default`, `max`, `rate` and the like in front of the name do not: what stands around the sentence may.
    """

    what: str
    value: str
    owned: bool


def setting(text: str) -> Setting | None:
    """The value that a sentence sets, None if it sets none."""
    if len(text) > _LONGEST or _DIGIT.search(text, max(0, len(text) - _NEAR_END)) is None:
        return None  # nearly all sentences
    match = _ENGLISH.fullmatch(text) or _HAN.fullmatch(text)
    if match is None:
        return None
    what = _FRESH.sub("", " ".join(match["what"].lower().split()))
    value = _plain("".join(match["value"].lower().split()).rstrip(".").removeprefix("v"))
    owner = _OF.fullmatch(what) or _OWNED.fullmatch(what)
    if owner is not None:
        return Setting(f"{owner['name']} of {owner['who']}", value, _says_whose(what))
    return Setting(what, value, _says_whose(what))


def form(value: str) -> str:
    """What a value looks like without its numbers: those of one form can be compared, `30 s` and `1 min` cannot."""
    return _NUMBER.sub("0", _MONTH_NAME.sub("month ", value))


def _plain(value: str) -> str:
    """In one spelling of units, months and numbers: `30 seconds` as `30s`, `March 05` as `mar5`, `1.0` as `1`."""
    for spelling, plain in _UNIT_NAMES.items():
        if match := re.fullmatch(spelling, value):
            value = match.expand(plain)
            break
    return _NUMBER.sub(_plain_number, _MONTH_NAME.sub(r"\1", value))


def _plain_number(match: re.Match[str]) -> str:
    parts = [part.lstrip("0") or "0" for part in match[0].split(".")]
    while len(parts) > 1 and parts[-1] == "0":
        parts.pop()
    return ".".join(parts)


def _says_whose(what: str) -> bool:
    """Whether any word is more than the name of a value and its qualifiers, and none leaves open whose or when."""
    words = _WORD.findall(_HAN_WORDS.sub(" ", what))
    if _HAN_WHO_KNOWS.search(what) or not _WHO_KNOWS.isdisjoint(words):
        return False
    if any(_HAN_GENERIC.sub("", each) for each in _HAN_WORDS.findall(what)):
        return True
    return any(each not in _GENERIC for each in words)
