"""Judging heads, by a table."""

import pytest
from memoryd.errors import CloudStoppedError
from memoryd.store.sent import Cursor, SentSegment
from memoryd.sync.heads import Verdict, check_other_heads, judge_own_head
from memoryd.sync.wire import Head


def sent(idx, sha, confirmed=False):
    """A receipt."""
    return SentSegment(idx, sha, idx * 10, 1, 1, confirmed=confirmed)


ONE, TWO, LOST = sent(1, "a", confirmed=True), sent(2, "b", confirmed=True), sent(3, "c")


@pytest.mark.parametrize(
    ("head", "receipts", "verdict", "receipt"),
    [
        (None, [], Verdict.GO_ON, None),
        (None, [sent(1, "a")], Verdict.GO_ON, None),
        (None, [ONE], Verdict.SET_BACK, None),
        (Head("d", 2, "b"), [ONE, TWO], Verdict.GO_ON, TWO),
        (Head("d", 2, "b"), [TWO, LOST], Verdict.GO_ON, TWO),
        (Head("d", 3, "c"), [TWO, LOST], Verdict.CONFIRM, LOST),
        (Head("d", 3, "x"), [TWO, LOST], Verdict.FORK, None),
        (Head("d", 3, "c"), [TWO, sent(3, "older"), LOST], Verdict.CONFIRM, LOST),
        (Head("d", 1, "a"), [ONE, TWO], Verdict.SET_BACK, None),
        (Head("d", 1, "z"), [TWO], Verdict.SET_BACK, None),
        (Head("d", 2, "z"), [TWO], Verdict.FORK, None),
        (Head("d", 9, "z"), [], Verdict.FORK, None),
    ],
)
def test_the_own_head_tells_what_happened(head, receipts, verdict, receipt):
    """Lost replies, late requests, a cloud that was set back, and a second machine under the same id."""
    assert judge_own_head(head, receipts) == (verdict, receipt)


@pytest.mark.parametrize(
    ("heads", "stopped"),
    [
        ([Head("d", 5, "e")], False),
        ([Head("d", 6, "f")], False),
        ([Head("d", 5, "x")], True),
        ([Head("d", 4, "d")], True),
        ([], True),
    ],
)
def test_a_log_behind_its_cursor_means_a_cloud_that_was_set_back(heads, stopped):
    """Shorter, other or gone stops; equal and longer goes on; a log that was never folded says nothing."""
    cursors = [Cursor("d", 5, "e", ""), Cursor("never", 0, "", "")]
    found = {each.device: each for each in heads}
    if stopped:
        with pytest.raises(CloudStoppedError):
            check_other_heads(found, cursors)
    else:
        check_other_heads(found, cursors)
