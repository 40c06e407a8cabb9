"""Which sentences set one thing to a value, and which do not."""

import time

import pytest
from memoryd.tiers.values import Setting, form, setting


@pytest.mark.parametrize(
    ("text", "what", "value"),
    [
        ("The port of kestrel is 8081", "port of kestrel", "8081"),
        ("Kestrel's port is now 8082.", "port of kestrel", "8082"),
        ("kestrel port: 8082", "port of kestrel", "8082"),
        ("The new port of kestrel is 8082", "port of kestrel", "8082"),
        ("The deadline for the talk is March 5", "deadline of talk", "mar5"),
        ("The timeout for the client is 30 s", "timeout of client", "30s"),
        ("Python version is v3.11", "version of python", "3.11"),
        ("The default timeout of kestrel is 5 s", "default timeout of kestrel", "5s"),
        ("kestrel 的端口改为8082。", "kestrel 的端口", "8082"),
        ("报告的截止日期为3月5日", "报告的截止日期", "3月5日"),
    ],
)
def test_a_sentence_sets_one_thing_to_a_value(text, what, value):
    """Whose it is in any order, the value without its spaces."""
    assert setting(text) == Setting(what, value, owned=True)


@pytest.mark.parametrize(
    "text",
    [
        "port is 8081",
        "The port is 8081",
        "端口是 8081",
        "Version: 2.1",
        "The default timeout is 30 s",
        "rate limit: 100",
        "API rate limit: 100",
        "Our max daily quota is 20",
        "The second deadline is March 5",
        "upper limit for requests: 100",
        "默认超时是30秒",
        "每日的最大限额为100",
        "API 端口: 80",
        "His port is 8081",
        "Their kestrel port is 8081",
        "Its redis version is 7",
        "Someone's address is 12",
        "The other version is 2",
        "The timeout for that client is 30 s",
        "The word limit is 500",
        "The character limit for the room is 500",
        "The speed limit is 50",
        "The age limit is 18",
        "Monday's kestrel budget is 20",
        "The budget for January is 200",
        "The budget for lunch is 20",
        "Weekday budget is 20",
        "The kestrel budget for this week is 20",
        "The budget for tomorrow is 20",
        "他的预算是200元",
        "其端口是 8081",
        "房间预算是200元",
        "字数上限为500",
        "某客户的预算是200元",
        "我们的预算是200元",
        "张三本周预算是200元",
        "张三一月预算是200元",
        "今天的预算是200元",
    ],
)
def test_without_an_owner_that_is_said(text):
    """Only what stands around such a line says whose value it is."""
    assert setting(text) is not None
    assert not setting(text).owned


@pytest.mark.parametrize(
    "text",
    [
        "port is 8081 and 8082",
        "port is not 8081",
        "The port of kestrel was 8081",
        "The port of kestrel is 8081 on staging",
        "The temperature is 21",
        "The kettle is blue",
        "Kestrel listens on 8081",
        "Version 2 is out",
        "If the port is 8081, restart it",
        "The port of kestrel is free",
        "端口是8081和8082",
        "端口不是8081",
        "",
    ],
)
def test_what_says_more_or_less_sets_nothing(text):
    """A clause more, a measurement, or something of which there may be several."""
    assert setting(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 s", "30 seconds"),
        ("5 minutes", "5 min"),
        ("Mar 1", "March 01"),
        ("$20", "20 dollars"),
        ("v2.0", "2"),
        ("2026-03-01", "2026-3-1"),
    ],
)
def test_one_value_in_two_spellings_is_one_value(one, other):
    """Units, months and zeros that say nothing."""
    assert setting(f"kestrel limit is {one}") == setting(f"kestrel limit is {other}")


@pytest.mark.parametrize(
    ("one", "other", "comparable"),
    [
        ("60 s", "1 min", False),
        ("2026-03-01", "Mar 1", False),
        ("30", "30 s", False),
        ("10.0.0.1", "10.0.0.1:80", False),
        ("30 s", "45 seconds", True),
        ("March 5", "Apr 12", True),
        ("3.9", "v3.10.1", True),
        ("8081", "8082", True),
    ],
)
def test_only_values_of_one_form_can_be_compared(one, other, comparable):
    """What a number means that has another unit, or a date that is written in another way, is not worked out."""
    first, second = (setting(f"kestrel limit is {each}") for each in (one, other))

    assert first.value != second.value
    assert (form(first.value) == form(second.value)) == comparable


def test_a_long_text_costs_nothing_and_sets_nothing() -> None:
    """A paragraph that hurts the patterns is not asked, and the longest sentence that is takes a moment."""
    began = time.process_time()
    long = [setting("port of " * 20_000 + "9"), setting(" " * 100_000 + "port is 9"), setting("port of " * 36 + "9")]

    assert long == [None, None, None]
    assert time.process_time() - began < 1
