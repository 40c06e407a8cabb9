"""Commands as a user types them, with and without a daemon."""

import json
import stat


def test_commands_work_without_a_daemon(machine):
    """A fact is stored, found, traced and forgotten by single processes."""
    one = machine()

    stored = one.ask(
        "store", "--text", "Prefers tea over coffee", "--category", "owner/preferences", "--cmd", "brew tea"
    )
    again = one.ask("store", "--text", "Prefers tea over coffee", "--category", "owner/preferences")

    assert stored["metadata"]["commands"] == ["brew tea"]
    assert again["id"] == stored["id"]
    assert one.knows("Prefers tea over coffee")
    assert one.ask("history", "--id", stored["id"])["text"] == "Prefers tea over coffee"
    assert one.ask("forget", "--id", stored["id"])["forgotten"] == [stored["id"]]
    assert not one.knows("Prefers tea over coffee")
    assert one.run("status").returncode == 3


def test_commands_at_once_wait_for_each_other(machine):
    """Ten processes that open the memory at the same moment all succeed."""
    one = machine()
    running = [one.begin("store", "--text", f"Parallel fact {n} about gulls", "--category", "birds") for n in range(10)]

    outputs = [process.communicate(timeout=100) for process in running]

    assert [process.returncode for process in running] == [0] * 10, outputs
    assert len({json.loads(out)["id"] for out, _ in outputs}) == 10
    assert len(one.hits("parallel gulls")) == 10


def test_a_second_daemon_says_who_runs(machine):
    """It exits with 75 at once and the first goes on."""
    one = machine().start()

    second = one.run("run")

    assert second.returncode == 75
    assert "pid" in second.stderr
    assert one.run("status").returncode == 0


def test_a_command_for_another_workspace_is_refused(machine, tmp_path):
    """With a daemon and without one: 78, naming both workspaces and --instance."""
    one = machine()
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    one.ask("store", "--text", "Belongs here", "--category", "x")

    for state in ("alone", "daemon"):
        if state == "daemon":
            one.start()
        refused = one.run("retrieve", "--query", "x", "--workspace", str(other))
        assert refused.returncode == 78, state
        assert str(other) in refused.stderr
        assert str(one.workspace) in refused.stderr
        assert "--instance" in refused.stderr


def test_the_socket_is_private_and_gone_after_a_clean_end(machine):
    """Folder 0700, socket 0600; SIGTERM ends with exit code 0 and leaves no socket."""
    one = machine().start()
    path = one.root / "run" / "memoryd" / "default.sock"

    modes = stat.S_IMODE(path.parent.stat().st_mode), stat.S_IMODE(path.stat().st_mode)
    code, body = one.get("/v1/status")
    ended = one.stop()

    assert modes == (0o700, 0o600)
    assert (code, json.loads(body)["workspace"]) == (200, str(one.workspace.resolve()))
    assert ended == 0
    assert not path.exists()


def test_sync_without_a_cloud_is_a_matter_of_configuration(machine):
    """No cloud is configured: exit code 78, and status says off."""
    one = machine()

    refused = one.run("sync", "--wait")

    assert refused.returncode == 78
    assert one.start().ask("status")["sync"]["state"] == "off"


def test_init_then_run_needs_no_environment(machine):
    """After `init` the configuration names the workspace, and the daemon serves it from any folder."""
    one = machine()
    one.ask("init")
    del one.env["MEMORYD_WORKSPACE"]

    one.start()

    assert one.ask("status")["workspace"] == str(one.workspace.resolve())
