"""`memoryd doctor` on real machines: asked of the daemon, with the cloud as it is."""

import json
import os
import shutil

import pytest


def diagnose(one, *flags):
    """Name to state, the whole reply, the exit code."""
    done = one.run("doctor", *flags, "--json")
    reply = json.loads(done.stdout)
    return {each["name"]: each["state"] for each in reply["checks"]}, reply, done.returncode


def test_a_daemon_with_a_cloud_is_looked_at_from_inside(machine):
    """Token, reading, writing, clock and the drill; the block holds no token and no words of a note."""
    one = machine(cloud=True)
    one.write("2026-02-13.md", "- The otter remembers\n")
    one.start()
    one.ask("sync", "--wait")

    one.ask("drill")
    states, reply, code = diagnose(one)

    wanted = ("token", "cloud", "cloud writes", "clock", "sync", "restore", "watcher", "version", "socket", "database")
    assert {name: states[name] for name in wanted} == dict.fromkeys(wanted, "ok")
    assert (code, reply["probed_by"]) == (0, "daemon")
    text = str(reply)
    assert one.env["TURSO_AUTH_TOKEN"] not in text
    assert "otter" not in text
    assert str(one.workspace) not in reply["block"]


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root reads every folder")
def test_a_folder_that_only_the_terminal_may_read_fails(machine):
    """The daemon may not list memory/, the command may: the probe runs inside (docs/engine.md)."""
    one = machine()
    if os.geteuid() == 0:
        one.prefix = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--"]
    one.start()
    folder = one.workspace / "memory"
    folder.chmod(0)
    try:
        states, _, code = diagnose(one)
    finally:
        folder.chmod(0o700)

    assert (states["workspace"], code) == ("fail", 1)
