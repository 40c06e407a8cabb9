"""Days that a question names: `days.txt` and `no_days.txt` beside this file hold the right answers."""

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import chain, product
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memoryd.search.dates import DATED, day_tokens, named_days, named_ends
from memoryd.search.dates_chinese import CHINESE
from memoryd.search.dates_english import DIGITS, ENGLISH

_HERE = Path(__file__).parent
_EPOCH = date(1970, 1, 1)
_YEARS_BACK = 12
Spans = list[tuple[str, str]]


def spans(text: str, today: date) -> Spans:
    return [
        ((_EPOCH + timedelta(first)).isoformat(), (_EPOCH + timedelta(last)).isoformat())
        for first, last in named_days(text, today)
    ]


def _rows() -> Iterator[tuple[str, str, str]]:
    """The day of asking, what is asked, and its answer."""
    today = ""
    for line in (_HERE / "days.txt").read_text("utf-8").splitlines()[1:]:
        if line.startswith("# "):
            today = line[2:]
        elif line:
            text, _, answer = line.rpartition(" => ")
            yield today, text, answer


def _of_year(year: int, answer: str) -> Iterator[tuple[str, str]]:
    first, _, last = answer.partition("..")
    try:
        start = date.fromisoformat(f"{year}-{first}")
        yield (
            start.isoformat(),
            date.fromisoformat(f"{year + (last < first)}-{last}" if last else f"{start}").isoformat(),
        )
    except ValueError:
        return


@pytest.mark.parametrize(("today", "text", "answer"), list(_rows()))
def test_a_question_names_its_days(today: str, text: str, answer: str) -> None:
    """Exactly those of the table; one without a year those of the recent years, the coming one may be among them."""
    asked = date.fromisoformat(today)
    found = set(spans(text, asked))

    if not answer.startswith("each "):
        assert found == {(one.partition("..")[0], one.rpartition("..")[2]) for one in answer.split(" + ")}
        return
    recent = [list(_of_year(asked.year - back, answer[5:])) for back in range(-1, _YEARS_BACK + 1)]
    assert set(chain(*recent[2:])) <= found <= set(chain(*recent))


@pytest.mark.parametrize("text", (_HERE / "no_days.txt").read_text("utf-8").splitlines()[2:])
def test_what_looks_like_a_day_names_none(text: str) -> None:
    """Neither in small letters nor as the beginning of a question."""
    for asked in (text, text.lower(), f"{text}?"):
        assert spans(asked, date(2026, 3, 18)) == []


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("last weekend of April", ("2026-04-25", "2026-04-26"), ("2014-04-26", "2014-04-27")),
        ("四月份第一个周末", ("2026-04-04", "2026-04-05"), ("2014-04-05", "2014-04-06")),
        ("last Monday in March", ("2026-03-30", "2026-03-30"), ("2014-03-31", "2014-03-31")),
        ("3月份最后一个星期一", ("2026-03-30", "2026-03-30"), ("2014-03-31", "2014-03-31")),
    ],
)
def test_a_rank_without_a_year_is_that_of_each_recent_year(
    text: str, first: tuple[str, str], last: tuple[str, str]
) -> None:
    """The coming year's first, then back: of many spans the newest are asked for first."""
    found = spans(text, date(2026, 5, 14))

    assert found[1] == first
    assert found[-1] == last
    assert len(found) == 14


_SHAPES = (
    "2025-{0}-{1}", "2025{0}{1}", "{0}/{1}/2025", "{0}.{1}.2025", "2025/{0}", "2025-W{0}", "week {0} of 2025",
    "May {0}", "{0} May", "the {0}th of May", "May {0} to {1}", "{0}-{1} May", "{0} months ago", "past {0} weeks",
    "last {0} days", "{0} Fridays ago", "{0}月{1}日", "{0}月{1}日到{1}日", "{0}月份", "{0}月到{1}月", "{0}月底",
    "{0}月第{1}个周末", "{0}月第{1}天", "2025年第{0}周", "第{0}季度", "{0}天前", "{0}个月前", "{0}年前", "{0}年{1}月",
    "最近{0}天", "{0}到{1}天前",
)  # fmt: skip


@pytest.mark.parametrize("shape", _SHAPES)
def test_a_number_that_no_calendar_has_is_no_error(shape: str) -> None:
    """In questions and in facts: a note with `2025-03-00` in it is taken in like any other."""
    for one, other in product(("0", "00", "13", "32", "60", "99"), repeat=2):
        text = shape.format(one, other)
        assert all(first <= last for first, last in spans(text, date(2026, 3, 18)))
        assert all(len(token) == 6 for token in day_tokens(text))


@pytest.mark.parametrize(
    "text", ["May 0", "00 May", "2025-03-00", "2025-00-13", "20250300", "3月0日", "0月3日", "0/0/2025"]
)
def test_day_and_month_nought_name_no_day(text: str) -> None:
    assert (spans(text, date(2026, 3, 18)), day_tokens(text)) == ([], [])


def test_letters_that_patterns_take_for_others_name_the_same_days() -> None:
    """A Turkish `Frıday` or a long s in `laſt March` raised, or the question never came back."""
    lookalikes = str.maketrans("sik", "ſı\u212a")
    for today, text, _ in _rows():
        odd = text.translate(lookalikes)
        assert spans(odd, date.fromisoformat(today)) == spans(text, date.fromisoformat(today))
        assert day_tokens(odd) == day_tokens(text)


def test_many_expressions_are_read_in_linear_time() -> None:
    """Each is joined with its neighbours, not with all others: four times as many take less than nine times as long."""

    def cpu_s(count: int) -> float:
        started = process_time()
        named_days("昨天" * count, date(2026, 3, 18))
        return process_time() - started

    assert any(min(cpu_s(1_900) for _ in range(2)) < 9 * min(cpu_s(475) for _ in range(2)) for _ in range(3))


_PIECES = [
    *("last", "next", "this", "in", "since", "between", "from", "to", "and", "ago", "past", "a", "two", "few", "half"),
    *("day", "week", "month", "year", "weekend", "fortnight", "Friday", "May", "march", "sun", "spring", "Q1", "H2"),
    *("Christmas", "of the", "before", "'s", "0", "1", "12", "31", "99", "2025", "9999", "-", "/", ".", ":"),
    *"上下这前后大第到几半两廿〇天周月年号日个春节初底末今明去",
    *("最后", "之前", "最近", "十二", "星期", "季度", "周五", "国庆", "元旦", "中旬", "以来"),
]


@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.one_of(st.sampled_from(_PIECES), st.sampled_from(_PIECES), st.text(max_size=3)), max_size=12
        ).flatmap(lambda pieces: st.sampled_from([" ".join(pieces), "".join(pieces)])),
    ),
    st.dates(date(1970, 1, 1), date(2199, 12, 31)),
)
def test_any_text_at_any_day_names_spans_that_exist(text: str, today: date) -> None:
    """Nothing raises, whatever stands together; no span ends before it begins."""
    for first, last in named_days(text, today):
        assert first <= last
    for token in day_tokens(text):
        assert len(token) == 6


_FORMS = st.sampled_from([pattern for pattern, _ in (*DIGITS, *ENGLISH, *CHINESE)]).flatmap(st.from_regex)


@given(
    _FORMS,
    st.sampled_from([" to ", "到", " and ", "'s Monday ", "的周五"]),
    _FORMS,
    st.dates(date(1970, 1, 1), date(9000, 1, 1)),
)
def test_whatever_a_form_may_match_names_spans_that_exist(one: str, joint: str, other: str, today: date) -> None:
    """Absurd numbers too, two of them together, in any year that a date can have."""
    for text in (one, f"since {one}{joint}{other}"):
        assert all(first <= last for first, last in named_days(text, today))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("due 2026-02-13", ["#02-13"]),
        ("Feb 13 and the 5th of March, 2025", ["#02-13", "#03-05"]),
        ("二月十三号之前", ["#02-13"]),
        ("二〇二六年二月十三日", ["#02-13"]),
        ("4/30/2026", ["#04-30"]),
        ("from 3 to 7 March", ["#03-03", "#03-07"]),
        ("10月18日至27日", ["#10-18", "#10-27"]),
        ("yesterday, last March, may 3 times", []),
    ],
)
def test_a_written_day_has_one_token_in_every_spelling(text: str, tokens: list[str]) -> None:
    """Days of the calendar only, not what is relative to a day."""
    assert sorted(day_tokens(text)) == tokens


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


def test_days_of_a_long_text_are_those_of_its_beginning() -> None:
    """What stands behind so many characters is not looked at, so that a page of dates costs no more than a text."""
    assert day_tokens("Feb 13. " + "word " * DATED + "March 5") == ["#02-13"]
