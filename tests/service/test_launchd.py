"""The launchd agent: its plist by plistlib, and the order of launchctl calls."""

import os
import plistlib
from pathlib import Path

import pytest
from memoryd.clock import ManualClock
from memoryd.daemon import launchd_agent, service
from memoryd.daemon.installation import Ran
from memoryd.daemon.launchd_agent import LABEL, LaunchdAgent, render_plist
from memoryd.errors import UnavailableError
from memoryd.places import Places

ALLOWED = {
    "Label": str,
    "ProgramArguments": list,
    "RunAtLoad": bool,
    "KeepAlive": dict,
    "ThrottleInterval": int,
    "ExitTimeOut": int,
    "ProcessType": str,
    "Umask": int,
    "WorkingDirectory": str,
    "EnvironmentVariables": dict,
    "SoftResourceLimits": dict,
    "StandardOutPath": str,
    "StandardErrorPath": str,
}


def places_in(folder: Path, instance: str = "default") -> Places:
    run = folder / "run"
    return Places(
        instance, folder / "state", run, run / "default.sock", folder / "config.toml", folder / "my notes & more"
    )


class Launchctl:
    """A launchd with one agent that is loaded or not."""

    def __init__(self, *, loaded: bool = False, lingers: int = 0, io_errors: int = 0) -> None:
        self.asked: list[str] = []
        self.loaded, self.pid = loaded, 77 if loaded else None
        self.lingers, self.io_errors = lingers, io_errors

    def __call__(self, arguments) -> Ran:
        action = arguments[1]
        if action != "print":
            self.asked.append(" ".join(arguments[1:]))
        return getattr(self, f"_{action}")()

    def _print(self) -> Ran:
        if not self.loaded and self.lingers:
            self.lingers -= 1
            return Ran(0, "\tstate = exiting\n", "")
        shown = f"\tstate = running\n\tpid = {self.pid}\n" if self.pid else "\tstate = not running\n"
        return Ran(0, shown, "") if self.loaded else Ran(113, "", "Could not find service")

    def _bootout(self) -> Ran:
        was, self.loaded, self.pid = self.loaded, False, None
        return Ran(0 if was else 3, "", "")

    def _bootstrap(self) -> Ran:
        if self.io_errors:
            self.io_errors -= 1
            return Ran(5, "", "Bootstrap failed: 5: Input/output error")
        self.loaded, self.pid = True, 78
        return Ran(0, "", "")

    def _kickstart(self) -> Ran:
        self.pid = 79
        return Ran(0, "", "")

    def _kill(self) -> Ran:
        self.pid = None
        return Ran(0, "", "")


def agent_in(folder: Path, launchctl: Launchctl, answers=lambda _: True, instance: str = "default") -> LaunchdAgent:
    clock = ManualClock()
    return LaunchdAgent(
        places_in(folder, instance), launchctl, folder / "home", clock=clock, sleep=clock.advance, answers=answers
    )


@pytest.fixture(autouse=True)
def script(monkeypatch):
    monkeypatch.setattr(launchd_agent, "console_script", lambda: Path("/opt/my tools & co/memoryd"))
    for name in ("TURSO_AUTH_TOKEN", "TURSO_TOKEN", "TURSO_DATABASE_URL", "TURSO_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("instance", ["default", "work"])
def test_the_installed_plist_holds_known_keys_with_real_paths(tmp_path, instance):
    """Keys and types are those that launchd knows; paths with blanks and & survive; nothing is left to expand."""
    agent = agent_in(tmp_path, Launchctl(), instance=instance)
    agent.install()
    plist = plistlib.loads(agent.file.read_bytes())

    assert {key: type(value) for key, value in plist.items()} == ALLOWED
    assert agent.file.stem == plist["Label"]
    assert plist["ProgramArguments"] == [
        "/opt/my tools & co/memoryd", "run", "--workspace", str(tmp_path / "my notes & more"), "--instance", instance,
    ]  # fmt: skip
    assert plist["KeepAlive"] == {"SuccessfulExit": False}
    assert plist["Umask"] == 0o077
    paths = [
        plist["ProgramArguments"][0],
        plist["WorkingDirectory"],
        plist["StandardOutPath"],
        plist["StandardErrorPath"],
    ]
    assert all(Path(each).is_absolute() for each in paths)
    assert not set("~$") & set(agent.file.read_text())
    assert Path(plist["StandardOutPath"]).parent.is_dir()
    assert agent.file.stat().st_mode & 0o777 == 0o644


def test_the_shipped_plist_is_named_by_its_label():
    """The template itself is a valid plist."""
    file = Path(service.__file__).parents[1] / f"launchd/{LABEL}.plist"
    assert plistlib.loads(file.read_bytes())["Label"] == file.stem


def test_no_secret_is_in_the_environment_of_the_agent(tmp_path, monkeypatch):
    """A plist can be read by everybody."""
    monkeypatch.setenv("TURSO_AUTH_TOKEN", "tok" + "en-of-mine")
    plist = render_plist(places_in(tmp_path), Path("/x/memoryd"), LABEL, tmp_path)
    assert "en-of-mine" not in plistlib.dumps(plist).decode()


def test_install_replaces_a_loaded_agent_and_waits_for_the_socket(tmp_path):
    """The former agent is gone before the new one is loaded, a late error 5 is tried once more."""
    launchctl = Launchctl(loaded=True, lingers=3, io_errors=1)
    answers = iter([False, False, True])
    agent = agent_in(tmp_path, launchctl, lambda _: next(answers))
    reply = service.install(places_in(tmp_path), agent)
    target = f"gui/{os.getuid()}"
    assert launchctl.asked == [f"bootout {target}/{LABEL}", *[f"bootstrap {target} {agent.file}"] * 2]
    assert (reply.installed, reply.running, reply.pid) == (True, True, 78)


def test_an_agent_that_never_answers_is_said(tmp_path):
    """After 15 s without an answer install says so."""
    with pytest.raises(UnavailableError, match="does not answer on its socket within 15 s"):
        agent_in(tmp_path, Launchctl(), lambda _: False).install()


def test_a_session_without_a_screen_is_said(tmp_path):
    """Over ssh alone launchd refuses with error 5 for good."""
    with pytest.raises(UnavailableError, match="Input/output error"):
        agent_in(tmp_path, Launchctl(io_errors=2)).install()


def test_a_failed_install_leaves_no_agent(tmp_path):
    """An agent that could not be loaded does not start at the next login either."""
    agent = agent_in(tmp_path, Launchctl(io_errors=2))
    with pytest.raises(UnavailableError):
        agent.install()
    assert not agent.file.exists()


def test_stop_start_and_uninstall(tmp_path):
    """Stop leaves the agent installed, start runs it again, uninstall removes it."""
    launchctl = Launchctl()
    agent, places = agent_in(tmp_path, launchctl), places_in(tmp_path)
    service.install(places, agent)
    stopped = service.stop(places, agent)
    assert (stopped.installed, stopped.running) == (True, False)
    assert service.start(places, agent).pid == 79
    gone = service.uninstall(places, agent)
    assert (gone.installed, gone.running) == (False, False)
    assert not agent.file.exists()


def test_the_socket_answers_only_when_somebody_listens(tmp_path):
    """A missing socket is no answer."""
    assert not launchd_agent._answers(tmp_path / "nobody.sock")
