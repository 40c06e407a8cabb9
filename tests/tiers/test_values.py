"""Which sentences set one thing to a value, and which do not."""

import time

import pytest
from memoryd.tiers.values import Setting, setting


@pytest.mark.parametrize(
    ("text", "what", "value"),
    [
        ("The port of kestrel is 8081", "port of kestrel", "8081"),
        ("Kestrel's port is now 8082.", "port of kestrel", "8082"),
        ("kestrel port: 8082", "port of kestrel", "8082"),
        ("The new port of kestrel is 8082", "port of kestrel", "8082"),
        ("The deadline for the talk is March 5", "deadline of talk", "march5"),
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


def test_a_long_text_costs_nothing_and_sets_nothing() -> None:
    """A paragraph that hurts the patterns is not asked, and the longest sentence that is takes a moment."""
    began = time.process_time()
    long = [setting("port of " * 20_000 + "9"), setting(" " * 100_000 + "port is 9"), setting("port of " * 36 + "9")]

    assert long == [None, None, None]
    assert time.process_time() - began < 1
