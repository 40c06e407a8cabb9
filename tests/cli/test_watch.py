"""`status --watch`: asked again each second."""

import json

import pytest
from memoryd.cli.common import Common
from memoryd.cli.main import run
from memoryd.cli.watch import EVERY_S, watch


class Sleeper:
    """Sleeps without time passing; Ctrl-C after some rounds. `between` is done while it sleeps."""

    def __init__(self, rounds: int, between=lambda: None) -> None:
        self.left, self.between, self.pauses = rounds, between, []

    def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        self.between()


def test_without_a_terminal_it_is_a_json_line_a_second(daemon, capfdbinary):
    """Each line is the whole reply; Ctrl-C ends it with 0."""
    daemon.says({"state": "ok"})
    sleeper = Sleeper(3)

    assert watch(Common(json=True), sleep=sleeper) == 0

    lines = capfdbinary.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [{"state": "ok"}] * 3
    assert sleeper.pauses == [EVERY_S] * 3


def test_a_daemon_that_goes_away_and_comes_back_is_followed(start_daemon, capfdbinary):
    """While nobody answers each line is an error object; then the status is back."""
    running = []

    def come() -> None:
        if not running:
            running.append(start_daemon())
            running[0].says({"state": "starting"})

    assert watch(Common(json=True), sleep=Sleeper(2, come)) == 0

    first, second = (json.loads(line) for line in capfdbinary.readouterr().out.splitlines())
    assert first["error"]["code"] == "not_running"
    assert second == {"state": "starting"}


def test_the_flag_leads_to_it(monkeypatch):
    """`memoryd status --watch` watches; the daemon never hears of the flag."""
    seen = []
    monkeypatch.setattr("memoryd.cli.watch.watch", lambda common: seen.append(common) or 0)

    assert run(["status", "--watch", "--json"]) == 0
    assert seen == [Common(json=True)]


@pytest.mark.usefixtures("daemon")
def test_other_commands_have_no_such_flag(capfd):
    """Only status can be watched."""
    assert run(["rescan", "--watch"]) == 64
    assert "--watch" in capfd.readouterr().err
