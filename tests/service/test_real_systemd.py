"""The real unit under a real `systemd --user`: ready, killed, hung, wrongly configured, stopped."""

import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest
from memoryd.daemon.systemd_unit import render_unit
from memoryd.places import Places

SCRIPT = Path(__file__).with_name("user_systemd.sh")
SYSTEMD = Path("/lib/systemd/systemd")
HOME = Path("/run/home")


def missing() -> str:
    """What this machine lacks for the test, '' if nothing."""
    if os.geteuid() != 0:
        return "only root may make a mount namespace and a user for it"
    tools = [name for name in ("unshare", "setpriv", "curl", "systemctl", "dbus-daemon") if shutil.which(name) is None]
    return f"there is no {', '.join(tools)}" if tools else "" if SYSTEMD.exists() else "there is no systemd"


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> dict[str, str]:
    """What the script printed: one life of the unit, about 30 s."""
    if reason := missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("unit")
    places = Places(
        "default", HOME / "state", Path("/run/user/4321/memoryd"), Path("/run/user/4321/memoryd/default.sock"),
        HOME / "config.toml", HOME / "w",
    )  # fmt: skip
    unit, program = folder / "memoryd.service", folder / "memoryd"
    unit.write_text(render_unit(places, HOME / ".local/bin/memoryd", "memoryd"))
    python = f"/run/base/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    program.write_text(
        "#!/bin/sh\nexport PYTHONPATH=/run/src:/run/site LD_LIBRARY_PATH=/run/base/lib\n"
        f'exec {python} -c "from memoryd.cli.main import main; main()" "$@"\n'
    )
    source = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [
            "unshare",
            "--mount",
            "--fork",
            "sh",
            SCRIPT,
            unit,
            program,
            sys.base_prefix,
            site.getsitepackages()[0],
            source,
        ],
        capture_output=True,
        text=True,
        timeout=110,
    )
    if "Operation not permitted" in done.stderr or "cannot mount" in done.stderr:
        pytest.skip(f"this machine forbids it: {done.stderr.splitlines()[0]}")
    found = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    found["log"] = done.stderr
    assert "ready" in found, done.stderr[-3000:]
    return found


def test_active_means_usable(seen):
    """READY comes with a status line, a private runtime folder and a socket that answers (DA-2, M8)."""
    assert seen["ready"] == "active", seen["log"]
    assert "watcher native" in seen["told"]
    assert seen["mode"] == "700 600"
    assert seen["answers"] == "yes"


def test_a_killed_daemon_is_started_again(seen):
    """Kill -9 is followed by a restart that is ready at once, stale socket or not (DA-4, DA-5)."""
    assert seen["after_kill"] == "active 1", seen["log"]


def test_a_hung_daemon_is_aborted_with_its_stacks_and_started_again(seen):
    """Without a ping the manager aborts it; every thread's stack is in the log."""
    assert seen["after_hang"] == "active 2", seen["log"]
    assert int(seen["stacks"]) > 0


def test_a_stop_is_quick_clean_and_leaves_no_runtime_folder(seen):
    """Stop takes less than 10 s, is a success, and is not followed by a restart (DA-4, DA-8)."""
    assert seen["stopped"] == "inactive success", seen["log"]
    assert int(seen["stop_ms"]) < 10_000
    assert seen["runtime_folder"] == "gone"


def test_wrong_settings_are_not_tried_again(seen):
    """Exit 78 is final: a restart cannot help."""
    assert seen["wrong_settings"] == "failed 78 0", seen["log"]
