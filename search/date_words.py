"""The words for months, weekdays, units, parts, seasons and holidays, English and Chinese, and what each stands for."""

MARK = "\ue000"
"""Stands before a year that came from words: `last year` and `去年` are read as that mark and a number."""

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
HAN_WEEKDAYS = "一二三四五六日天"
UNITS = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year",
    "小时": "hour", "钟头": "hour", "分钟": "minute", "末": "weekend",
}  # fmt: skip
PARTS = {
    "middle": "mid", "beginning": "start", "first half": "1/2", "second half": "2/2", "上半": "1/2", "下半": "2/2",
    "上旬": "early", "中旬": "mid", "下旬": "late", "初": "start", "中": "mid", "底": "end", "末": "end",
}  # fmt: skip
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
"""The month that each begins with; a winter is named after the year it begins in."""
HOLIDAYS = {
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25), "boxing day": (12, 26),
    "new year's eve": (12, 31), "new years eve": (12, 31), "new year's day": (1, 1), "new years day": (1, 1),
    "halloween": (10, 31), "valentine's day": (2, 14), "valentines day": (2, 14),
    "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "愚人节": (4, 1), "五一": (5, 1), "劳动节": (5, 1),
    "青年节": (5, 4), "儿童节": (6, 1), "六一": (6, 1), "教师节": (9, 10), "国庆": (10, 1), "万圣节": (10, 31),
    "双十一": (11, 11), "双11": (11, 11), "平安夜": (12, 24), "圣诞": (12, 25), "跨年夜": (12, 31),
}  # fmt: skip
"""Those that fall on the same day every year; the moon's holidays do not."""


def month_number(name: str) -> int:
    """1 to 12 for an English name, else the number that it is."""
    known = name.casefold()[:3]
    return int(name) if name.isdigit() else 1 + next(i for i, full in enumerate(MONTHS) if full.startswith(known))


def weekday_number(name: str) -> int:
    """0 for Monday: `fri`, `Friday`, `五`."""
    if name in HAN_WEEKDAYS:
        return min(HAN_WEEKDAYS.index(name), 6)
    return next(i for i, full in enumerate(WEEKDAYS) if full.startswith(name.casefold()[:3]))


def unit_of(word: str) -> str:
    """`day`, `week` …, or the number of an English weekday."""
    name = word.casefold()
    return str(WEEKDAYS.index(name)) if name in WEEKDAYS else UNITS.get(name, name)


def holiday(word: str) -> tuple[int, int]:
    """Month and day."""
    return HOLIDAYS[word.casefold().replace("’", "'")]
