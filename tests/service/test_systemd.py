"""The systemd user unit: what is written, what systemd says of it, and what is asked of systemctl."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from memoryd.daemon import installation, service
from memoryd.daemon.installation import Ran
from memoryd.daemon.systemd_unit import SystemdUnit, render_unit
from memoryd.errors import ConfigError, UnavailableError
from memoryd.places import Places


def places_in(folder: Path, instance: str = "default", workspace: str = "notes") -> Places:
    run = folder / "run"
    return Places(instance, folder / "state", run, run / "default.sock", folder / "config.toml", folder / workspace)


class Systemctl:
    """Remembers what it was asked; `fails` names an action that does not work."""

    def __init__(self, fails: str = "", linger: str = "no") -> None:
        self.asked: list[list[str]] = []
        self.fails, self.linger = fails, linger
        self.running = False

    def __call__(self, arguments) -> Ran:
        arguments = list(arguments)
        self.asked.append(arguments)
        if arguments[0] == "loginctl":
            return Ran(0, f"{self.linger}\n", "")
        action = arguments[2]
        if action == self.fails:
            return Ran(1, "", "Failed to connect to bus: No medium found\nmore")
        self.running = {"restart": True, "start": True, "stop": False, "disable": False}.get(action, self.running)
        state = (
            "ActiveState=active\nSubState=running\nMainPID=77" if self.running else "ActiveState=inactive\nMainPID=0"
        )
        return Ran(0, f"{state}\nStatusText=watcher native\n" if action == "show" else "", "")

    @property
    def actions(self) -> list[str]:
        return [each[2] for each in self.asked if each[0] == "systemctl" and each[2] != "show"]


@pytest.fixture
def unit(tmp_path: Path) -> SystemdUnit:
    return SystemdUnit(places_in(tmp_path), Systemctl(), tmp_path / "units")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("folder", ["plain", 'a b & 50% $HOME "x" \\ 日记'])
@pytest.mark.parametrize("instance", ["default", "work"])
def test_systemd_finds_nothing_to_complain_about(tmp_path, folder, instance):
    """`systemd-analyze verify` ends with 0 and says nothing, whatever the folders are called."""
    home = tmp_path / folder
    script = tmp_path / folder.replace('"', "").replace("\\", "") / "bin" / "memoryd"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    name = SystemdUnit(places_in(home, instance), Systemctl(), tmp_path).name
    unit = tmp_path / f"{name}.service"
    unit.write_text(render_unit(places_in(home, instance), script, name))

    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", unit],
        capture_output=True,
        text=True,
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_names_real_paths_and_no_token(tmp_path, monkeypatch):
    """Command, workspace, instance and places are absolute; no secret of the environment is written."""
    monkeypatch.setenv("TURSO_AUTH_TOKEN", "tok" + "en-of-mine")
    text = render_unit(places_in(tmp_path, "work", "a b%c$d"), Path("/opt/my tools/memoryd"), "memoryd-work")
    lines = text.splitlines()
    assert f'ExecStart="/opt/my tools/memoryd" "run" "--workspace" "{tmp_path}/a b%%c$$d" "--instance" "work"' in lines
    assert f'Environment="MEMORYD_CONFIG={tmp_path}/config.toml" "MEMORYD_STATE_DIR={tmp_path}/state"' in lines
    assert "RuntimeDirectory=memoryd-work" in lines
    assert "en-of-mine" not in text


def test_only_three_lines_differ_from_the_shipped_unit(tmp_path):
    """Whoever reads the shipped unit has read the installed one."""
    shipped = (Path(service.__file__).parents[1] / "systemd/memoryd.service").read_text().splitlines()
    installed = render_unit(places_in(tmp_path), Path("/usr/bin/memoryd"), "memoryd").splitlines()
    assert [line.partition("=")[0] for line in installed if line not in shipped] == ["ExecStart", "Environment"]
    assert [line for line in shipped if line not in installed] == ["ExecStart=%h/.local/bin/memoryd run"]


def test_a_program_that_systemd_cannot_start_is_refused(tmp_path):
    """Quotes and backslashes in the path of the program have no escape."""
    with pytest.raises(ConfigError, match="systemd cannot start"):
        render_unit(places_in(tmp_path), Path('/opt/my "tools"/memoryd'), "memoryd")


def test_a_folder_name_that_no_unit_can_hold_is_refused(tmp_path):
    """A line break in a path would be another line of the unit."""
    with pytest.raises(ConfigError, match="cannot stand in a systemd unit"):
        render_unit(places_in(tmp_path, workspace="a\nb"), Path("/usr/bin/memoryd"), "memoryd")


def test_install_writes_enables_starts_and_says_that_logout_ends_it(unit, tmp_path, monkeypatch):
    """Without linger the user hears it and gets the command (DA-3); variables of the shell are named."""
    monkeypatch.setenv("TURSO_AUTH_TOKEN", "x")
    before = {*tmp_path.rglob("*")}
    reply = service.install(places_in(tmp_path), unit)
    assert unit._run.actions == ["daemon-reload", "enable", "restart"]
    assert stat.S_IMODE(unit.file.stat().st_mode) == 0o644
    assert (reply.installed, reply.running, reply.pid) == (True, True, 77)
    assert any("enable-linger" in note for note in reply.notes)
    assert any("TURSO_AUTH_TOKEN" in note for note in reply.notes)
    assert {*tmp_path.rglob("*")} - before == {unit.folder, unit.file}  # docs/original.md, S6: it touches its own


def test_install_says_nothing_of_linger_when_it_is_on(tmp_path, monkeypatch):
    """No note where nothing is to be done."""
    for name in ("TURSO_AUTH_TOKEN", "TURSO_TOKEN", "TURSO_DATABASE_URL", "TURSO_URL"):
        monkeypatch.delenv(name, raising=False)
    unit = SystemdUnit(places_in(tmp_path), Systemctl(linger="yes"), tmp_path / "units")
    assert service.install(places_in(tmp_path), unit).notes == []


def test_stop_start_status_and_uninstall(unit, tmp_path):
    """Each action answers with the state after it."""
    places = places_in(tmp_path)
    service.install(places, unit)
    assert not service.stop(places, unit).running
    assert service.start(places, unit).running
    assert service.status(places, unit).detail == "active, running, watcher native"
    gone = service.uninstall(places, unit)
    assert (gone.installed, gone.running) == (False, False)
    assert not unit.file.exists()
    assert not service.uninstall(places, unit).installed


@pytest.mark.parametrize("action", [service.start, service.stop])
def test_what_is_not_installed_cannot_be_started_or_stopped(unit, tmp_path, action):
    """The error names the command that installs it."""
    with pytest.raises(ConfigError) as refused:
        action(places_in(tmp_path), unit)
    assert "service install" in refused.value.hint


def test_a_systemd_that_cannot_be_reached_is_one_sentence(tmp_path):
    """Without a session bus the user reads systemd's first line and a way out."""
    unit = SystemdUnit(places_in(tmp_path), Systemctl(fails="daemon-reload"), tmp_path / "units")
    with pytest.raises(UnavailableError) as refused:
        service.install(places_in(tmp_path), unit)
    assert refused.value.message == "systemctl --user daemon-reload failed: Failed to connect to bus: No medium found."
    assert "memoryd run" in refused.value.hint


@pytest.mark.parametrize("before", [None, b"[Unit]\nDescription=an earlier one\n"])
@pytest.mark.parametrize("action", ["daemon-reload", "enable"])
def test_a_failed_install_leaves_what_was_there(tmp_path, action, before):
    """Who is told that it failed finds no unit that starts at the next login, and keeps the one he had."""
    unit = SystemdUnit(places_in(tmp_path), Systemctl(fails=action), tmp_path / "units")
    unit.folder.mkdir()
    if before is not None:
        unit.file.write_bytes(before)

    with pytest.raises(UnavailableError):
        service.install(places_in(tmp_path), unit)

    assert (unit.file.read_bytes() if unit.file.exists() else None) == before
    assert len(list(unit.folder.iterdir())) == (before is not None)


def test_a_machine_without_the_tool_is_said():
    """A missing systemctl or launchctl is an error with a way out."""
    with pytest.raises(UnavailableError, match="is not installed here"):
        installation.run_tool(["memoryd-no-such-tool"])


def test_the_console_script_is_the_one_of_this_installation(tmp_path, monkeypatch):
    """The unit starts the memoryd beside this interpreter, by an absolute path."""
    (tmp_path / "memoryd").write_text("#!/bin/sh\n")
    (tmp_path / "memoryd").chmod(0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert installation.console_script() == tmp_path / "memoryd"

    monkeypatch.setattr("sys.executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigError):
        installation.console_script()
