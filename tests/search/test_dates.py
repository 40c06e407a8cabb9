"""Days that a question names."""

from datetime import date, timedelta

import pytest
from memoryd.search.dates import named_days, named_ends

TODAY = date(2026, 2, 16)


def spans(text: str) -> list[tuple[str, str]]:
    start = date(1970, 1, 1)
    return [
        ((start + timedelta(a)).isoformat(), (start + timedelta(b)).isoformat()) for a, b in named_days(text, TODAY)
    ]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("what happened on 2026-02-13?", "2026-02-13"),
        ("notes of 2025/12/1", "2025-12-01"),
        ("February 13, 2026", "2026-02-13"),
        ("the 13th of Feb 2026", "2026-02-13"),
        ("2026年2月13日做了什么", "2026-02-13"),
        ("2026年二月十三号", "2026-02-13"),
        ("yesterday", "2026-02-15"),
        ("the day before yesterday", "2026-02-14"),
        ("3 days ago", "2026-02-13"),
        ("what did we do last Friday", "2026-02-13"),
        ("昨天", "2026-02-15"),
        ("前天", "2026-02-14"),
        ("大前天", "2026-02-13"),
        ("三天前", "2026-02-13"),
        ("上周五", "2026-02-13"),
        ("上星期天", "2026-02-15"),
        ("what did we decide last night", "2026-02-15"),
        ("昨夜", "2026-02-15"),
        ("this morning", "2026-02-16"),
        ("今早", "2026-02-16"),
        ("two days ago", "2026-02-14"),
        ("a day ago", "2026-02-15"),
        ("两天前", "2026-02-14"),
        ("十二天前", "2026-02-04"),
        ("3天前天气怎么样", "2026-02-13"),
        ("前天天气怎么样", "2026-02-14"),
        ("上上周五", "2026-02-06"),
        ("上上个星期天", "2026-02-08"),
        ("last day of March 2025", "2025-03-31"),
        ("the last Monday in March 2025", "2025-03-31"),
        ("first Monday of March 2025", "2025-03-03"),
        ("2025年3月的最后一个周五", "2025-03-28"),
    ],
)
def test_single_day(text: str, day: str) -> None:
    """The text names exactly this day."""
    assert spans(text) == [(day, day)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in February 2024", "2024-02-01", "2024-02-29"),
        ("2023年12月", "2023-12-01", "2023-12-31"),
        ("last week", "2026-02-09", "2026-02-15"),
        ("上个月", "2026-01-01", "2026-01-31"),
        ("this week", "2026-02-16", "2026-02-22"),
        ("这周", "2026-02-16", "2026-02-22"),
        ("本星期", "2026-02-16", "2026-02-22"),
        ("last weekend", "2026-02-14", "2026-02-15"),
        ("上周末", "2026-02-14", "2026-02-15"),
        ("the week before last", "2026-02-02", "2026-02-08"),
        ("上上周", "2026-02-02", "2026-02-08"),
        ("a week ago", "2026-02-09", "2026-02-15"),
        ("two weeks ago", "2026-02-02", "2026-02-08"),
        ("三周前", "2026-01-26", "2026-02-01"),
        ("两个星期前", "2026-02-02", "2026-02-08"),
        ("this month", "2026-02-01", "2026-02-28"),
        ("本月", "2026-02-01", "2026-02-28"),
        ("上上个月", "2025-12-01", "2025-12-31"),
        ("three months ago", "2025-11-01", "2025-11-30"),
        ("两个月前", "2025-12-01", "2025-12-31"),
        ("14 months ago", "2024-12-01", "2024-12-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("去年", "2025-01-01", "2025-12-31"),
        ("前年", "2024-01-01", "2024-12-31"),
        ("今年", "2026-01-01", "2026-12-31"),
        ("five years ago", "2021-01-01", "2021-12-31"),
        ("十年前", "2016-01-01", "2016-12-31"),
        ("last November", "2025-11-01", "2025-11-30"),
        ("last Feb", "2025-02-01", "2025-02-28"),
        ("三年前年终奖", "2023-01-01", "2023-12-31"),
        ("大前年", "2023-01-01", "2023-12-31"),
        ("half a year ago", "2025-07-01", "2025-09-30"),
        ("半年前", "2025-07-01", "2025-09-30"),
        ("上上周末", "2026-02-07", "2026-02-08"),
        ("两月前", "2025-12-01", "2025-12-31"),
        ("last week of March 2025", "2025-03-25", "2025-03-31"),
        ("2025年三月第二周", "2025-03-08", "2025-03-14"),
        ("first weekend in March 2025", "2025-03-01", "2025-03-02"),
    ],
)
def test_span_of_days(text: str, first: str, last: str) -> None:
    """The text names exactly this span."""
    assert spans(text) == [(first, last)]


@pytest.mark.parametrize("text", ["on Feb 13", "2月13日", "the 13th of February"])
def test_day_without_a_year_is_that_day_of_each_recent_year(text: str) -> None:
    """Old days are found by day and month alone."""
    found = {first for first, _ in spans(text)}

    assert {"2026-02-13", "2024-02-13", "2019-02-13"} <= found


@pytest.mark.parametrize(
    "text", ["what did we ship in March?", "三月份做了什么", "3月份的会议", "since Mar.", "in march we sang"]
)
def test_month_without_a_year_is_that_month_of_each_recent_year(text: str) -> None:
    """Old months are found by their name alone."""
    found = spans(text)

    assert {("2025-03-01", "2025-03-31"), ("2015-03-01", "2015-03-31")} <= set(found)
    assert len(found) == 13


@pytest.mark.parametrize("text", ["in May I asked", "in may 2025", "in may?", "in may, i think", "what was in may"])
def test_the_month_of_may(text: str) -> None:
    """A capital, a number, a mark or the end behind it tell the month from the verb."""
    assert ("2025-05-01", "2025-05-31") in spans(text)


@pytest.mark.parametrize("text", ["last Monday in March", "3月份最后一个星期一"])
def test_a_weekday_of_a_month_without_a_year_is_that_one_of_each_recent_year(text: str) -> None:
    """Neither every March, nor the last Monday from today."""
    found = spans(text)

    assert {("2025-03-31", "2025-03-31"), ("2024-03-25", "2024-03-25")} <= set(found)
    assert all(first == last for first, last in found)
    assert len(found) == 13


@pytest.mark.parametrize(
    "text",
    [
        "",
        "in marches",
        "13月份",
        "三个月",
        "no date here",
        "2026-13-45",
        "may I",
        "February 30, 2026",
        "v1.2.3",
        "0天前x",
        "99月99日",
        "9999 years ago",
        "last marching",
        "in may i ask",
        "3月前完成",
        "三月前完成",
        "12345天前",
        "12345个月前",
        "1.5年前",
        "half a month ago",
        "thirty-two days ago",
        "thirty two weeks ago",
        "几天前天气怎么样",
        "几年前年终奖",
        "以前天天加班",
        "目前年薪多少",
        "晚上周会的内容",
        "上上上周五",
        "上半年前两个月",
    ],
)
def test_no_day(text: str) -> None:
    """What is no date names no day of another month."""
    assert [span for span in spans(text) if span[0] != TODAY.isoformat()] == []


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Do you know what our first conversation was about?", ["first"]),
        ("when we first met", ["first"]),
        ("我们第一次聊天说了什么", ["first"]),
        ("What did I ask in our last session?", ["last"]),
        ("上次谈话提到的书", ["last"]),
        ("the first chapter and the last page", []),
        ("第一次发布是什么时候", []),
        ("the talk about the first release", []),
    ],
)
def test_the_ends_of_the_memory(text: str, ends: list[str]) -> None:
    """Only a first or last talk names one."""
    assert named_ends(text) == ends
