"""The forms in which Chinese names days, weeks, months and years, strictest first.

They are asked of a text whose numerals are digits (`numerals.with_digits`).
"""

import re
from datetime import date

from ..numerals import HAN_COUNT
from .date_offsets import (
    day_of_week,
    days_away,
    days_far,
    han_quarter,
    han_week,
    past_days,
    past_half,
    so_long_ago,
    weekday,
)
from .date_readers import (
    Form,
    day_of_month,
    han_form,
    month_to_month,
    of_holiday,
    of_season,
    of_week,
    part,
    part_begun,
    quarter,
    rank,
    this_day,
    this_month,
    whole_month,
    whole_year,
)
from .date_words import HAN_WEEKDAYS, HOLIDAYS, MARK
from .spans import months

_YEAR = rf"{MARK}?(?<!\d)(?P<year>(?:19|20)\d\d|\d\d(?=年\d{{1,2}} ?月)) ?年的? ?"
_OF_YEAR = f"(?<![农阴旧]历)(?:{_YEAR})?"
_MONTH = r"(?<!\d)(?P<month>\d{1,2}) ?月份?的? ?"
_WEEK = "(?:周|星期|礼拜)"
_UP = "(?<![上早晚以线网天海下会身马])上{1,3}"
_DOWN = "(?<![下以线地楼天底之如脚手当时旗乡台零])下{1,3}"
"""`下` of `下周`, but not the end of `地下` or `以下`."""
_WHICH = f"(?P<which>{_UP}|{_DOWN}|(?<!日)本|这)(?:1?个)?"
_NAME = f"(?P<name>[{HAN_WEEKDAYS}])(?![个次件天人年名条家场起直])(?<!天(?=气))"
_TO_NAME = f"(?: ?[-–~到至] ?(?:[这本上下]?{_WEEK})?(?P<to>[{HAN_WEEKDAYS}]))?"
_THEN = "(?:(?![\u4e00-\u9fff])|(?=[的里份中我你他她它咱做去来开发有在和跟与是谁说谈聊吃买见完学写看用早晚上下]))"
"""The end of a word: nothing of Chinese behind it, or a character that begins a new phrase."""
_ALWAYS = [name for name in HOLIDAYS if not name.isascii() and name not in ("五一", "六一", "国庆", "圣诞")]
_BARE_HOLIDAY = (
    f"(?P<holiday>{'|'.join(_ALWAYS)}|五一(?=节|假|期间|劳动|长假)|六一(?=节|假|儿童)"
    "|(?:国庆|圣诞)(?=节|假|期间|长假|当天|那天|前))(?:劳动节|儿童节)?"
)
HAN_DAYS: list[Form] = [
    han_form(
        rf"{_OF_YEAR}(?<!\d)(?P<month>\d{{1,2}}) ?月 ?(?P<day>\d{{1,2}})(?: ?[日号]|(?![\d个天次人年月周万千百.%:/]))"
        r"(?: ?(?P<joint>[-–—~到至]) ?(?P<to>\d{1,2})[日号])?",
        day_of_month,
    ),
]
"""Days of a month."""
CHINESE: list[Form] = [
    *HAN_DAYS,
    han_form(rf"{_OF_YEAR}{_MONTH}(?P<which>最后1|第[1-5])个?(?P<week>{_WEEK})(?P<unit>[末{HAN_WEEKDAYS}]?)", rank),
    han_form(rf"{_OF_YEAR}{_MONTH}(?P<which>最后1|第\d{{1,2}})(?P<week>)(?P<unit>天)", rank),
    han_form(rf"{_YEAR}(?P<which>最后1|第1)(?P<week>)(?P<unit>天)", rank),
    han_form(rf"{_YEAR}第(?P<week>\d{{1,2}})周", of_week),
    han_form(
        rf"{_OF_YEAR}{_MONTH}(?P<part>[上中下]旬|[上下]半(?=月)|初(?![一二三四五六七八九十])|[底末]|中{_THEN})", part
    ),
    han_form(
        rf"{_OF_YEAR}(?<!\d)(?P<month>\d{{1,2}}) ?月?份? ?[-–—~到至] ?(?P<to_month>\d{{1,2}}) ?月(?! ?\d)",
        month_to_month,
    ),
    han_form(rf"{_YEAR}年?(?P<part>[上下]半(?=年)|[初底末](?![中级恋步次始日尾])|中{_THEN})", part),
    han_form(rf"{_OF_YEAR}(?<![前后近这\d.])第?(?P<nth>[1-4])个?季度(?!假)", quarter),
    han_form(rf"{_YEAR}(?P<season>[春夏秋冬])(?:[天季]|{_THEN})", of_season),
    han_form(
        rf"{_YEAR}(?P<holiday>{'|'.join(name for name in HOLIDAYS if not name.isascii())})(?:劳动节|儿童节)?",
        of_holiday,
    ),
    han_form(rf"{_YEAR}今[天日]", this_day),
    han_form(rf"{_YEAR}(?:这个?时候|此时|同期)", this_month),
    han_form(rf"{_YEAR}(?<!\d)(?P<month>\d{{1,2}}) ?月", whole_month),
    han_form(rf"(?<!\d)(?<![农阴旧]历)(?P<month>\d{{1,2}}) ?月(?:份|(?!\d){_THEN})", whole_month),
    han_form(
        rf"{HAN_COUNT}(?:个(?P<half>半)?)?(?P<unit>天|周|星期|礼拜|年|小时|钟头|分钟|(?<=[个半])月)(?P<and_half>半)?"
        "[以之]?前(?!后)",
        so_long_ago,
    ),
    han_form("(?<![上下两前后这])半个?(?P<unit>年|月|天|小时|钟头)[以之]?前(?!后)", so_long_ago),
    han_form("(?<![以之目当年])前(?P<count>[几])个?(?P<unit>天|周|星期|礼拜|月|年)", so_long_ago),
    han_form(
        r"(?:最近|过去|(?<![最附接将靠远])近|这)的?(?P<count>(?<!这)1(?!\d)|[2-9](?:-[2-9])?|\d{2,3}|[几数])个?"
        "(?P<unit>天|日|周|星期|礼拜|年|小时|(?<=个)月)(?![前后之])",
        past_days,
    ),
    han_form("(?:最近|过去|(?<![最附接将靠远])近|这)半个?(?P<unit>年|月)", past_half),
    han_form("(?<![大天之以目当年])(?P<far>大{0,3})前天", days_far(-2)),
    han_form("昨[天日晚夜儿]", days_away(-1)),
    han_form("(?<![大之以最今此先月日天年个周前])(?P<far>大{0,2})后天(?!性)", days_far(2)),
    han_form("明(?:天(?!皇)|日(?![后本])|[晚早儿])", days_away(1)),
    han_form("今[天日晚早夜儿]|刚才", days_away(0)),
    han_form(rf"{_WHICH}{_WEEK}{_NAME}{_TO_NAME}", day_of_week),
    han_form(rf"{_WHICH}1?(?:周(?![期边围岁年全到密转折旋游刊身])|星期|礼拜)(?P<end>末)?", han_week),
    han_form(rf"{_WHICH}季度", han_quarter),
    han_form(rf"(?<![每个到至几\d])(?P<which>)(?:星期|礼拜){_NAME}(?! ?[-–~到至])", weekday),
    han_form(rf"(?<![每个到至几\d两圆方四])(?P<which>)周(?P<name>[{HAN_WEEKDAYS}]){_THEN}", weekday),
    han_form(
        r"(?<![\d大新每近学往历年当同该次翌])年(?P<part>[初底末](?![中级日尾一二三四五六七八九十])|中(?=总结))",
        part_begun("year"),
    ),
    han_form(r"(?<![上下\d年])(?P<part>[上下]半)年(?!前)", part_begun("year")),
    han_form(r"(?<![\d个岁腊正每月同该次])月(?P<part>[初底末])", part_begun("month")),
    han_form(_BARE_HOLIDAY, of_holiday),
    han_form(r"(?<!\d)(?P<year>(?:19|20)\d\d)年? ?[-–—~到至] ?(?P<to_year>(?:19|20)\d\d)年(?![代\d])", whole_year),
    han_form(rf"{MARK}?(?<!\d)(?P<year>(?:19|20)\d\d)年(?![代\d])", whole_year),
]
_CALENDAR = re.compile(
    r"(?<![\d第.,月到至点-])(?P<years>\d{1,4})年[以之]?前(?![后者期辈台列])"
    r"|(?<![\d第.,-])(?P<months>\d{1,4})个月[以之]?前(?!后)"
    r"|(?P<year>(?<!过)去|(?<![说证表声])明|(?<!当)今|大前|(?<![年之以目当大几数])前|(?<![以之前年月日天后周])后)年(?!份|代|级)"
    rf"|(?P<month>(?<!日)本|这1?个?|(?:{_UP}|{_DOWN})(?:1?个)?)月(?![亮光球经饼票色])"
)
_YEARS = {"去": -1, "明": 1, "今": 0, "大前": -3, "前": -2, "后": 2}


def with_chinese_years(text: str, today: date) -> str:
    """`text` with its relative years and months by their numbers, so that they stand in any form: `去年3月`."""
    return _CALENDAR.sub(lambda match: _absolute(match, today), text)


def _absolute(match: re.Match[str], today: date) -> str:
    if match["years"] or match["year"]:
        away = -int(match["years"]) if match["years"] else _YEARS[match["year"]]
        return f"{MARK}{today.year + away:04}年"
    which = match["month"] or ""
    away = -int(match["months"]) if match["months"] else which.count("下") - which.count("上")
    spans = months(today.year, today.month + away)
    return f"{MARK}{spans[0][0].year}年{spans[0][0].month}月" if spans else " "
