"""Which sentences say the same, and which only look so: precision first, since what is joined leaves search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memoryd.operations.wordings import is_fuller

SAME = [
    ("Use 150-char abstracts", "Use 150-char abstracts in briefings"),
    ("Prefers short abstracts", "prefers short abstract."),
    ("**Prefers** tea over coffee!", "Prefers tea over coffee"),
    ("我喜欢绿茶", "我喜欢绿茶和咖啡"),
    ("Always run the linter", "Always run the linter and tests"),
    ("Costs 5 € a month", "Costs 5 € a month for Anna"),
]
OTHER = [
    ("Deploy on Friday", "Deploy on Friday only if green"),
    ("Meet Anna in Ghent", "Meet Anna in Ghent cancelled"),
    ("The port is 8080", "The port is 8081"),
    ("Limit is 30", "Limit is 30 000"),
    ("The budget is 30", "The budget is 30 million"),
    ("Set it to -5 degrees", "Set it to 5 degrees"),
    ("Costs 5 € here", "Costs 5 $ here"),
    ("Use C here", "Use C++ here"),
    ("The key hangs outside", "The spare key hangs outside"),
    ("Alice manages Bob", "Bob manages Alice"),
    ("Always deploy small things", "Never deploy small things"),
    ("We use Redis now", "We use Redis now?"),
    ("Use Redis", "Use Redis here"),
    ("Deploy small things", "Deploy small things or wait for the whole release train to leave"),
    ("我喜欢绿茶", "我不喜欢绿茶"),
    ("他明天来开会", "他明天来开会取消"),
    ("We ship it today", "We ship it today, Anna says"),
    ("Alice likes the new tea", "Alice likes the new tea didn't"),
    ("Read foo.bar first", "Read foo_bar.baz first"),
]


@pytest.mark.parametrize(("part", "whole"), SAME)
def test_a_fuller_wording_is_known(part, whole):
    """It begins with the same words and adds few."""
    assert is_fuller(part, whole)


@pytest.mark.parametrize(("part", "whole"), OTHER)
def test_what_says_something_else_stays_apart(part, whole):
    """Neither way round."""
    assert not is_fuller(part, whole)
    assert not is_fuller(whole, part)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_the_order_of_wordings_has_no_rings_of_unequal_ones(one, two, three):
    """What is fuller than a fuller one has at least as many words; any text is judged."""
    if is_fuller(one, two) and is_fuller(two, three) and is_fuller(three, one):
        assert is_fuller(two, one)
        assert is_fuller(three, two)
