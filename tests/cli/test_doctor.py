"""`memoryd doctor`: what only a client can see (socket, versions, service, shell), exit codes, the block to paste."""

import contextlib
import io
import json
import plistlib
import sqlite3
from pathlib import Path

import msgspec
import pytest
from memoryd import __version__
from memoryd.cli import doctor as doctoring
from memoryd.cli.common import Common
from memoryd.cli.doctor_block import block
from memoryd.cli.main import run
from memoryd.daemon.installation import Ran, console_script
from memoryd.daemon.launchd_agent import LaunchdAgent, render_plist
from memoryd.daemon.systemd_unit import SystemdUnit, render_unit
from memoryd.errors import UnavailableError
from memoryd.operations.doctor_replies import DoctorReply, SettingInForce, failed, good
from memoryd.places import find_places

SECRET = "tok" + "en-" + "of-mine-0123456789"


class Systemctl:
    """systemd as it would answer."""

    def __init__(self, *, active=True, enabled=True, linger="yes"):
        self.active, self.enabled, self.linger = active, enabled, linger

    def __call__(self, arguments):
        if arguments[0] == "loginctl":
            return Ran(0, f"{self.linger}\n", "")
        if arguments[2] == "is-enabled":
            return Ran(0, "enabled\n", "") if self.enabled else Ran(1, "disabled\n", "")
        return Ran(0, f"ActiveState={'active' if self.active else 'inactive'}\nMainPID=7\n", "")


def _unit(folder, run, *, changed=""):
    places = find_places()
    unit = SystemdUnit(places, run, folder)
    unit.file.parent.mkdir(parents=True, exist_ok=True)
    unit.file.write_text(render_unit(places, console_script(), unit.name) + changed)
    return unit


@pytest.fixture
def unit(tmp_path):
    """An installed unit; `unit(changed=…, active=…)`."""
    return lambda changed="", **state: _unit(tmp_path / "units", Systemctl(**state), changed=changed)


def report(manager=None):
    """The reply and the exit code; checks by name."""
    answer = doctoring.doctor(Common(json=True), manager)
    reply = msgspec.json.decode(answer.body, type=DoctorReply)
    return reply, {check.name: check for check in reply.checks}, answer.exit_code


def test_a_machine_without_a_memory_is_only_warned_and_nothing_is_made(tmp_path, unit):
    """Looking makes no database; no daemon and no service are warnings: 0."""
    _, checks, code = report(SystemdUnit(find_places(), Systemctl(), tmp_path / "none"))

    assert code == 0
    assert (checks["socket"].state, checks["service"].state) == ("warn", "warn")
    assert "memoryd service install" in checks["service"].fix
    assert not find_places().state.exists()


def test_a_service_as_it_should_be_is_well(unit):
    """Enabled, running, lingering, and the file as shipped."""
    _, checks, _ = report(unit())

    assert (checks["service"].state, checks["unit"].state, "linger" in checks) == ("ok", "ok", False)


@pytest.mark.parametrize(
    ("state", "name", "fix"),
    [
        ({"active": False}, "service", "memoryd service start"),
        ({"enabled": False}, "service", "memoryd service install"),
        ({"linger": "no"}, "linger", "loginctl enable-linger"),
        ({"changed": "MemoryMax=10M\n"}, "unit", "memoryd service install"),
    ],
)
def test_what_is_wrong_with_the_service_is_told_with_its_fix(unit, state, name, fix):
    """DA-3: doctor keeps warning that logout ends it; a unit that somebody changed is another one."""
    _, checks, code = report(unit(**state))

    assert (checks[name].state, checks[name].fix, code) == ("warn", fix, 0)


def test_a_machine_without_systemd_is_told_the_way_out(tmp_path):
    """No systemctl: the sentence and the hint of the error."""

    def run(_):
        raise UnavailableError("systemctl is not installed here.", "Let your own supervisor start: memoryd run")

    unit = _unit(tmp_path / "units", run)

    found = report(unit)[1]["service"]

    assert (found.state, "supervisor" in found.fix) == ("warn", True)


def test_a_launchd_agent_is_compared_with_the_shipped_plist(tmp_path):
    """As written it is well; with another program it is not."""
    places = find_places()
    agent = LaunchdAgent(places, lambda _: Ran(0, "pid = 7\n", ""), tmp_path)
    agent.file.parent.mkdir(parents=True)
    plist = render_plist(places, console_script(), agent.label, tmp_path)
    agent.file.write_bytes(plistlib.dumps(plist))
    same = agent.health()
    agent.file.write_bytes(plistlib.dumps(plist | {"ProgramArguments": ["/usr/bin/other"]}))

    assert (same.enabled, same.as_shipped, same.lingers) == (True, True, None)
    assert not agent.health().as_shipped


def test_a_broken_configuration_fails_and_the_rest_is_still_looked_at():
    """The sentence of the error; folders are looked at all the same."""
    find_places().config.write_text("[hot]\nmax_byte = 3\n")

    _, checks, code = report()

    assert code == 1
    assert checks["configuration"].state == "fail"
    assert "max_byte" in checks["configuration"].message
    assert "disk" in checks


def test_a_socket_path_that_is_too_long_fails(monkeypatch):
    """The limit is in the message, the way out in the fix."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp/" + "x" * 120)

    _, checks, code = report()

    assert (code, "XDG_RUNTIME_DIR" in checks["places"].fix) == (1, True)


def test_no_workspace_is_a_failure(monkeypatch, tmp_path):
    """There is nothing to look at."""
    monkeypatch.delenv("MEMORYD_WORKSPACE")
    monkeypatch.chdir(tmp_path)

    _, checks, code = report()

    assert (code, checks["workspace"].state) == (1, "fail")


def test_an_unsound_memory_that_cannot_be_opened_is_a_failed_check(tmp_path):
    """A memory of another workspace: the error's sentence, and the other checks beside it."""
    places = find_places()
    places.state.mkdir(mode=0o700)
    places.database.mkdir()

    _, checks, code = report()

    assert (code, checks["memory"].state) == (1, "fail")
    assert "python" in checks


def test_a_memory_of_an_older_version_is_left_as_it_is(tmp_path):
    """Looking upgrades nothing: a warning that says what will."""
    assert run(["store", "--text", "The kettle is blue", "--category", "home"]) == 0
    database = find_places().database
    with contextlib.closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA user_version = 1")
        db.commit()

    _, checks, code = report()

    assert (code, checks["memory"].state) == (0, "warn")
    assert "older memoryd" in checks["memory"].message
    assert not list(database.parent.glob("*.before-*"))


def _says(daemon, socket_path, version=__version__, token="No cloud is configured: …"):
    reply = DoctorReply(ok=True, probed_by="daemon", checks=[good("token", token)], settings=[])
    daemon.says(msgspec.to_builtins(reply), Memoryd_Version=version)
    socket_path.chmod(0o600)
    socket_path.parent.chmod(0o700)


def test_a_daemon_answers_for_what_it_sees(daemon, socket_path, unit):
    """Its checks come first; socket and version are the client's."""
    _says(daemon, socket_path)

    reply, checks, code = report(unit())

    assert (reply.probed_by, code, reply.checks[0].name) == ("daemon", 0, "token")
    assert (checks["socket"].state, checks["version"].state) == ("ok", "ok")


def test_a_daemon_of_another_version_fails(daemon, socket_path, capsys):
    """The fix is a restart."""
    _says(daemon, socket_path, version="0.0.1")

    _, checks, code = report()

    assert (code, checks["version"].state, "0.0.1" in checks["version"].message) == (1, "fail", True)


def test_a_socket_that_others_can_reach_fails(daemon, socket_path):
    """Folder 0700, socket 0600."""
    _says(daemon, socket_path)
    socket_path.parent.chmod(0o755)

    assert report()[1]["socket"].state == "fail"


def test_variables_that_the_daemon_does_not_see_are_named(daemon, socket_path, monkeypatch):
    """F6: the original's wrapper exported what nothing read."""
    monkeypatch.setenv("TURSO_URL", "https://mine.example")
    monkeypatch.setenv("TURSO_TOKEN", SECRET)
    _says(daemon, socket_path)

    reply, checks, _ = report()

    assert (checks["environment"].state, "TURSO_URL, TURSO_TOKEN" in checks["environment"].message) == ("warn", True)
    assert SECRET not in msgspec.json.encode(reply).decode()


def test_a_workspace_on_a_silent_mount_is_told(monkeypatch):
    """Network and WSL mounts are found by polling."""
    monkeypatch.setattr(doctoring, "silent_mount", lambda _: "nfs4")

    found = report()[1]["file system"]

    assert (found.state, "nfs4" in found.message) == ("warn", True)


def test_the_block_names_no_place_and_no_private_setting():
    """What is not well, and which settings differ, ready to paste."""
    places = find_places()
    reply = DoctorReply(
        ok=False,
        probed_by="daemon",
        checks=[good("python", "3.11"), failed("state", f"{places.state} can be entered by others.", "chmod")],
        settings=[
            SettingInForce("sync.url", "libsql://mine.example", "x"),
            SettingInForce("hot.max_tasks", 3, "y"),
            SettingInForce("hot.max_bytes", 5120, "default"),
        ],
    )

    text = block(reply, places)

    assert "fail state: STATE can be entered by others." in text
    assert "1 ok, 0 warnings, 1 failed" in text
    assert "set  hot.max_tasks = 3" in text
    for private in (str(places.state), str(places.workspace), str(Path.home()), "mine.example", "hot.max_bytes"):
        assert private not in text


def test_the_command_prints_its_reply_and_ends_with_its_code(run_memoryd_doctor):
    """`--json`, and 1 when something fails."""
    code, out = run_memoryd_doctor("--json")
    places = find_places()
    places.config.write_text("nonsense = 1\n")
    broken, _ = run_memoryd_doctor("--json")

    assert (code, json.loads(out)["ok"], broken) == (0, True, 1)


@pytest.fixture
def run_memoryd_doctor(capfdbinary):
    def perform(*flags):
        code = run(["doctor", *flags])
        return code, capfdbinary.readouterr().out

    return perform


def test_people_read_a_line_a_check_with_its_fix(daemon, socket_path):
    """Colours, a fix below what is not well, the settings, and the block at the end."""
    from memoryd.cli.people import show_reply
    from rich.console import Console

    reply = DoctorReply(
        ok=False, probed_by="daemon", checks=[good("python", "3.11"), failed("state", "is [bold]open[/]", "chmod 700")],
        settings=[SettingInForce("hot.max_tasks", 3, "config.toml")], block="memoryd … block",
    )  # fmt: skip
    console = Console(record=True, width=100, file=io.StringIO())

    show_reply("doctor", msgspec.to_builtins(reply), console)

    lines = console.export_text().splitlines()
    assert lines[0].split() == ["ok", "python", "3.11"]
    assert "is [bold]open[/]" in lines[1]
    assert lines[2].strip() == "→ chmod 700"
    assert "  hot.max_tasks = 3   (config.toml)" in lines
    assert lines[-1] == "memoryd … block"
