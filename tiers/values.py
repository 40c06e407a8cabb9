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
    rf"(?:(?:the|our|its|my)\s+)?(?P<what>(?:[^\s,;:.!?=]+\s+)*?(?:{_NAMES})(?:\s+(?:of|for|on|in)(?:\s+[^\s,;:.!?=]+)+?)?)"
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
"""
_GENERIC = frozenset(_QUALIFIERS.split()) | frozenset(re.findall(r"\w+", _NAMES))
_HAN_GENERIC = re.compile(
    rf"{_HAN_NAMES}|默认|缺省|标准|最大|最小|最高|最低|最长|最短|最新|每小时|每日|每天|每周|每月|每季度|每年|[年月周日]度?|平均"
    "|总|新|旧|老|软|硬|第[一二三四五两]|首个?|主|备|速率|频率|请求|响应|连接|读取?|写入?|时间|时长|接口|内存|磁盘|数据库|服务器"
    "|服务|用户|公网|内网|外网|本地|全局|当前|现在|目前|我们|我|该|这个?|那个?|个|的|号"
)
_HAN_WORDS = re.compile(r"[\u4e00-\u9fff]+")
_WORD = re.compile(r"[^\W\d_][^\W_]+")
_DIGIT = re.compile(r"\d")
_NEAR_END = 16
_LONGEST = 300
"""A longer text is more than one sentence that sets a value; the patterns take more than linear time."""
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
    value = "".join(match["value"].lower().split()).rstrip(".").removeprefix("v")
    owner = _OF.fullmatch(what) or _OWNED.fullmatch(what)
    if owner is not None:
        return Setting(f"{owner['name']} of {owner['who']}", value, _says_whose(what))
    return Setting(what, value, _says_whose(what))


def _says_whose(what: str) -> bool:
    """Whether any word is more than the name of a value and its qualifiers."""
    if any(_HAN_GENERIC.sub("", each) for each in _HAN_WORDS.findall(what)):
        return True
    return any(each not in _GENERIC for each in _WORD.findall(_HAN_WORDS.sub(" ", what)))
