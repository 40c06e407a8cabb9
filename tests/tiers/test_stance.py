"""Which sentences are a stance, and which two contradict each other."""

import pytest
from memoryd.tiers.stance import stance


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I love coffee", "I hate coffee"),
        ("I like the opera", "I don't like opera"),
        ("Alice enjoys early meetings", "Alice can't stand early meetings"),
        ("The user prefers dark mode", "User no longer prefers dark mode"),
        ("I love coffee.", "I really do not like coffee"),
        ("I love coffee", "I like coffee any more"),
        ("我喜欢咖啡", "我不喜欢咖啡"),
        ("我很喜欢咖啡", "我现在讨厌咖啡了"),
        ("用户偏爱深色模式", "用户不再喜欢深色模式"),
    ],
)
def test_two_sentences_contradict_each_other(one, other):
    """The same one about the same thing, the other way round."""
    first, second = stance(one), stance(other)

    assert first is not None
    assert second is not None
    assert (first.who, first.what) == (second.who, second.what)
    assert first.liked != second.liked


@pytest.mark.parametrize(
    "text",
    [
        "Kestrel listens on 8125",
        "I love coffee, but not in the evening",
        "We talked about what I love",
        "Decided to use raw JSON-RPC",
        "他说的话很有道理",
        "",
    ],
)
def test_what_says_more_or_less_is_no_stance(text):
    """A clause more, or another verb, and nothing is judged."""
    assert stance(text) is None


def test_agreeing_sentences_do_not_contradict():
    """`love` and `like` are one side; the thing and the person have to be the same."""
    assert stance("I love coffee").liked == stance("I like coffee").liked
    assert stance("I love coffee").what != stance("I hate tea").what
    assert stance("I love coffee").who != stance("Alice hates coffee").who
