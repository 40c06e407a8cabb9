"""Pauses: after failures, after changes, between idle polls."""

import pytest
from memoryd.errors import AuthRequiredError, CloudStoppedError, ReadOnlyError
from memoryd.sync.hrana import CloudError
from memoryd.sync.waits import Schedule, WaitAfterFailure
from tenacity import Future, RetryCallState


def wait_after(attempt, error):
    """Seconds that are waited after the `attempt`-th failure."""
    state = RetryCallState(None, None, (), {})  # type: ignore[arg-type]
    state.attempt_number = attempt
    state.outcome = Future(attempt)
    state.outcome.set_exception(error)
    return WaitAfterFailure()(state)


@pytest.mark.parametrize(
    ("attempt", "least"), [(1, 5), (2, 10), (3, 20), (4, 40), (5, 80), (6, 160), (7, 300), (50, 300), (2000, 300)]
)
def test_the_wait_doubles_up_to_five_minutes_with_jitter(attempt, least):
    """5, 10, 20, 40 s and so on, never over 300 s."""
    for _ in range(20):
        assert least <= wait_after(attempt, CloudError("no")) <= min(least + 2.5, 300)


def test_retry_after_is_honoured():
    """A cloud that asks for a longer pause gets it; a shorter one changes nothing."""
    assert wait_after(1, CloudError("busy", retry_after_s=700)) == 700
    assert wait_after(3, CloudError("busy", retry_after_s=1)) >= 20


@pytest.mark.parametrize("kind", [AuthRequiredError, ReadOnlyError, CloudStoppedError])
def test_where_a_person_must_act_the_first_wait_is_longer(kind):
    """The first look again comes after half a minute."""
    assert 30 <= wait_after(1, kind("ask")) <= 35


def test_a_push_waits_for_two_seconds_of_quiet():
    """Each change starts the two seconds again."""
    schedule = Schedule()
    schedule.exchanged(100, busy=True)
    schedule.changed(101)
    assert schedule.due_in(101) == 2
    schedule.changed(102)
    assert schedule.due_in(102) == 2
    assert schedule.due_in(104) == 0


def test_constant_change_is_pushed_after_thirty_seconds():
    """A writer that never rests does not keep its words here."""
    schedule = Schedule()
    schedule.exchanged(100, busy=True)
    for second in range(100, 131):
        schedule.changed(second)
    assert schedule.due_in(130) == 0


def test_idle_polls_back_off_and_a_change_brings_them_back():
    """30, 60, 120, 240, 300 s; anything that happens starts at 30 s again."""
    schedule = Schedule()
    pauses = []
    for _ in range(6):
        pauses.append(schedule.due_in(0))
        schedule.exchanged(0, busy=False)
    assert pauses == [30, 60, 120, 240, 300, 300]
    schedule.exchanged(0, busy=True)
    assert schedule.due_in(0) == 30


def test_changes_before_an_exchange_are_taken_by_it():
    """What was written before it began does not call for another one."""
    schedule = Schedule()
    schedule.changed(10)
    schedule.started()
    schedule.exchanged(11, busy=True)
    assert schedule.due_in(11) == 30
