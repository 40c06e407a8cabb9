"""The daemon as a process: signals, second daemons, stale files, lost events."""

import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from memoryd.store.adapter import Database

MEMORYD = str(Path(sys.executable).with_name("memoryd"))


class Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("memoryd", timeout=5)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(5)
        self.sock.connect(os.fspath(self.path))


def wait_for(condition: Callable[[], Any], limit_s: float, what: str) -> Any:
    """What `condition` returns once it is true; errors count as not yet."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        try:
            if found := condition():
                return found
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.02)
    raise AssertionError(f"not within {limit_s} s: {what}")


class Machine:
    """A user's machine in one folder, and the daemon that runs on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes = root / "w" / "memory"
        self.notes.mkdir(parents=True)
        (root / "run").mkdir(mode=0o700)
        self.socket = root / "run" / "memoryd" / "default.sock"
        keep = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG")}
        self.environment = keep | {
            "HOME": str(root),
            "XDG_RUNTIME_DIR": str(root / "run"),
            "MEMORYD_STATE_DIR": str(root / "state"),
            "MEMORYD_CONFIG": str(root / "config.toml"),
            "MEMORYD_WORKSPACE": str(root / "w"),
        }
        self.log = root / "log"
        self.process: subprocess.Popen[bytes] | None = None
        self.command = [MEMORYD, "run"]

    def spawn(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            return subprocess.Popen(self.command, env=self.environment, cwd=self.root, stdout=log, stderr=log)

    def start(self) -> "Machine":
        self.process = self.spawn()
        wait_for(self.status, 20, "the daemon answers")
        return self

    def kill(self, how: signal.Signals = signal.SIGKILL) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(15)

    def ask(self, method: str, address: str, body: Any = None) -> tuple[int, Any]:
        connection = Connection(self.socket)
        try:
            connection.request(method, address, None if body is None else json.dumps(body))
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def status(self) -> dict[str, Any]:
        return self.ask("GET", "/v1/status")[1]

    def warnings(self) -> dict[str, dict[str, str]]:
        return {each["code"]: each for each in self.status()["warnings"]}

    def finds(self, word: str) -> bool:
        code, hits = self.ask("POST", "/v1/retrieve", {"query": word})
        assert code == 200
        return any(word in hit["text"] for hit in hits)

    def settled(self) -> dict[str, Any]:
        return wait_for(lambda: (found := self.status())["pending"] == 0 and found, 20, "nothing pending")


@pytest.fixture
def machine(short_path):
    machine = Machine(short_path)
    yield machine
    if machine.process is not None and machine.process.poll() is None:
        machine.process.kill()
        machine.process.wait()


def test_a_daemon_starts_listens_privately_and_ends_cleanly(machine):
    """READY means reachable; SIGTERM is exit 0 within 10 s and removes the socket."""
    machine.start()
    assert stat.S_IMODE(machine.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(machine.socket.parent.stat().st_mode) == 0o700
    status = machine.settled()
    assert status["pid"] == machine.process.pid
    assert status["watcher"]["state"] == "native"
    assert status["watcher"]["last_scan_age_s"] is not None

    began = time.monotonic()
    assert machine.kill(signal.SIGTERM) == 0
    assert time.monotonic() - began < 10
    assert not machine.socket.exists()
    assert "Traceback" not in machine.log.read_text()


def test_what_self_recall_found_outlives_the_process(machine):
    """Status shows the rate of the last probes from the start on, not only after the next round of them."""
    machine.start().settled()
    assert machine.status()["self_recall"] is None
    assert machine.kill(signal.SIGTERM) == 0
    with closing(Database(machine.root / "state" / "memory.db")) as db:
        db.run("INSERT INTO probes VALUES ('default', 'a', 'heron', 1, 1), ('default', 'b', 'otter', 2, 0)")

    machine.start()

    found = wait_for(lambda: machine.status()["self_recall"], 20, "the rate is shown")
    assert (found["asked"], found["found"], found["missed"]) == (2, 1, ["otter"])


def test_a_second_daemon_is_refused_by_name(machine):
    """Whoever comes later exits with 75 in one sentence with pid and time, and the first is unharmed (DA-2)."""
    machine.start()
    others = [
        subprocess.Popen([MEMORYD, "run"], env=machine.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(5)
    ]
    for other in others:
        _, errors = other.communicate(timeout=60)
        assert other.returncode == 75
        assert f"already running here (pid {machine.process.pid}, since ".encode() in errors
        assert b"Traceback" not in errors
    assert machine.status()["pid"] == machine.process.pid


def test_a_second_daemon_leaves_the_socket_of_one_that_answers_late(machine):
    """A daemon that is held up owns its socket all the same: whether it lives is asked of its lock (DA-6)."""
    machine.start()
    bound = machine.socket.stat().st_ino
    machine.process.send_signal(signal.SIGSTOP)
    try:
        other = subprocess.run([MEMORYD, "run"], env=machine.environment, capture_output=True, timeout=60, check=False)
    finally:
        machine.process.send_signal(signal.SIGCONT)

    assert other.returncode == 75
    assert f"already running here (pid {machine.process.pid}, since ".encode() in other.stderr
    assert machine.socket.stat().st_ino == bound
    assert machine.status()["pid"] == machine.process.pid


def test_daemons_started_at_once_end_as_one(machine):
    """Of several that start at the same moment exactly one stays (DA-2)."""
    crowd = [machine.spawn() for _ in range(6)]
    try:
        wait_for(lambda: [each.poll() for each in crowd].count(75) == 5, 60, "five gave up")
        wait_for(machine.status, 20, "one answers")
        assert [each.poll() for each in crowd].count(None) == 1
    finally:
        for each in crowd:
            each.kill()
            each.wait()


def test_a_killed_daemon_is_followed_at_once(machine):
    """After kill -9 the stale socket, lock and pid hinder nobody, and nothing is lost (DA-1, DA-5)."""
    (machine.notes / "2026-02-13.md").write_text("- The marmot sleeps\n")
    machine.start().settled()
    machine.kill()
    assert machine.socket.exists()
    (machine.notes / "2026-02-14.md").write_text("- The pika gathers hay\n")

    machine.start()

    wait_for(lambda: machine.finds("marmot") and machine.finds("pika"), 10, "both notes are found")


def test_saved_notes_are_found_in_a_second(machine):
    """With the watcher alive a save is searchable about 300 ms later; five styles, one after another."""
    machine.start().settled()
    note = machine.notes / "2026-02-13.md"
    note.write_text("- The first line\n")
    for number in range(5):
        word = f"quokka{number}"
        temporary = note.with_name(f".{number}.swp")
        temporary.write_text(note.read_text() + f"- The {word} arrived\n")
        temporary.replace(note)
        wait_for(lambda word=word: machine.finds(word), 5, f"{word} is found")
    status = machine.settled()
    assert status["watcher"]["events"] > 0
    assert status["watcher"]["last_event_age_s"] < 10


def test_missed_events_are_found_by_the_rescan(machine):
    """A process that was stopped during 18,000 changes finds the last note too when it goes on (M4, WA-11)."""
    noise = [machine.notes / "one.txt", machine.notes / "two.txt"]
    for each in noise:
        each.touch()
    machine.start().settled()
    machine.process.send_signal(signal.SIGSTOP)
    os.waitpid(machine.process.pid, os.WUNTRACED)  # until all its threads stand still, it goes on reading events
    for _ in range(9_000):  # in turns, because the kernel joins equal events
        os.utime(noise[0])
        os.utime(noise[1])
    (machine.notes / "2026-02-13.md").write_text("- The last one is a dotterel\n")
    machine.process.send_signal(signal.SIGCONT)
    wait_for(lambda: machine.finds("dotterel"), 20, "the last note is found")
    assert "file events were lost" in machine.log.read_text()


def test_a_folder_that_is_replaced_is_taken_up_within_ten_seconds(machine):
    """memory/ removed and made again is watched and scanned at the next check (M5, WA-2)."""
    machine.start().settled()
    machine.notes.rename(machine.root / "old")
    machine.notes.mkdir()
    (machine.notes / "2026-02-13.md").write_text("- The lapwing tumbles\n")
    wait_for(lambda: machine.finds("lapwing"), 10, "the note in the new folder is found")
    wait_for(lambda: machine.status()["watcher"]["rebuilds"] == 1, 10, "the watcher was set up again")
    (machine.notes / "2026-02-14.md").write_text("- The snipe drums\n")
    wait_for(lambda: machine.finds("snipe"), 5, "a later note is found")


def test_sighup_takes_new_settings_and_wrong_ones_change_nothing(machine):
    """A reload takes notes.extra into use without a restart (DA-4)."""
    (machine.root / "w" / "journals").mkdir()
    (machine.root / "w" / "journals" / "2026_02_13.md").write_text("- The grebe dives\n")
    machine.start().settled()
    assert not machine.finds("grebe")

    (machine.root / "config.toml").write_text("[notes]\nnonsense = 1\n")
    machine.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "settings stay as they were" in machine.log.read_text(), 5, "the refusal is logged")

    (machine.root / "config.toml").write_text('[notes]\nextra = ["journals/*.md"]\n')
    machine.process.send_signal(signal.SIGHUP)
    wait_for(lambda: machine.finds("grebe"), 10, "the journal is found")
    (machine.root / "w" / "journals" / "2026_02_14.md").write_text("- The heron waits\n")
    wait_for(lambda: machine.finds("heron"), 5, "a new journal is found")


def test_a_stop_in_a_first_scan_is_quick(machine):
    """SIGTERM while 300 notes are taken in is exit 0 within 10 s, and the next start goes on (DA-8)."""
    for number in range(300):
        lines = "".join(f"- Sighting {number} {line} of a wheatear on the ridge\n" for line in range(10))
        (machine.notes / f"{1400 + number}-03-01.md").write_text(lines)
    machine.start()
    wait_for(lambda: machine.status()["pending"] > 0, 10, "the scan runs")
    began = time.monotonic()
    assert machine.kill(signal.SIGTERM) == 0
    assert time.monotonic() - began < 10

    machine.start()
    wait_for(lambda: machine.status()["pending"] == 0, 60, "everything is in")
    assert machine.finds("wheatear")


@pytest.mark.parametrize("name", ["memory.db", "memoryd.lock"])
def test_a_daemon_whose_files_were_taken_away_does_not_go_on(machine, name):
    """Nothing more is stored into a file that is gone, and no second daemon can start beside it (DA-2)."""
    (machine.notes / "2026-02-13.md").write_text("- The wheatear sings\n")
    machine.start().settled()
    (machine.root / "state" / name).unlink()

    assert machine.process.wait(15) == 1
    assert f"{name} was removed or replaced" in machine.log.read_text()
    machine.start().settled()
    assert machine.finds("wheatear")


def test_a_stop_that_hangs_ends_with_its_stacks(machine):
    """Before a service manager kills it without a word, the daemon says where it hangs, and fails (DA-8)."""
    hang = (
        "import time, memoryd.daemon.daemon as d, memoryd.daemon.listener as l;"
        "from memoryd.cli.main import main;"
        "d.HUNG_STOP_S = 0.5;"
        "l.Listener.close = lambda *_: time.sleep(60);"
        "main()"
    )
    machine.command = [sys.executable, "-c", hang, "run"]
    machine.start()

    assert machine.kill(signal.SIGTERM) == 1
    log = machine.log.read_text()
    assert "Timeout (0:00:00.500000)!" in log
    assert "in stop" in log


def test_readiness_and_stop_are_told_to_the_service_manager(machine):
    """READY=1 comes when the socket answers, RELOADING=1 and READY=1 on SIGHUP, STOPPING=1 first at the end."""
    address = machine.root / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(os.fspath(address))
        manager.settimeout(20)
        machine.environment["NOTIFY_SOCKET"] = str(address)
        machine.environment["WATCHDOG_USEC"] = "3000000"
        machine.process = machine.spawn()

        def heard(start: str) -> str:
            while not (message := manager.recv(4096).decode()).startswith(start):
                pass
            return message

        assert "STATUS=watcher native" in heard("READY=1")
        assert machine.status()["pid"] == machine.process.pid
        heard("WATCHDOG=1")
        machine.process.send_signal(signal.SIGHUP)
        heard("RELOADING=1")
        heard("READY=1")
        assert machine.kill(signal.SIGTERM) == 0
        heard("STOPPING=1")


def test_a_daemon_that_cannot_start_says_why_and_never_exits_with_0(machine):
    """A missing workspace is exit 78 in one sentence, and the service manager hears it."""
    machine.environment["MEMORYD_WORKSPACE"] = str(machine.root / "nowhere")
    done = subprocess.run([MEMORYD, "run"], env=machine.environment, capture_output=True, text=True, timeout=30)
    assert done.returncode == 78
    assert "does not exist" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_workspace_of_another_memory_is_refused_by_the_daemon(machine):
    """A command that names another workspace hears it from the daemon, with 78."""
    machine.start()
    (machine.root / "other" / "memory").mkdir(parents=True)
    done = subprocess.run(
        [MEMORYD, "status", "--workspace", machine.root / "other", "--json"],
        env=machine.environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 78
    assert "--instance" in done.stderr


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="a small disk of one's own needs root and unshare"
)
def test_a_full_disk_is_a_state_that_ends(machine):
    """While the disk is full status says so and search answers; when there is room the note comes in by itself."""
    (machine.notes / "2026-02-12.md").write_text("- The marmot sleeps\n")
    state = machine.root / "state"
    state.mkdir()
    mount = f'mount -t tmpfs -o size=3m,mode=700 tmpfs "{state}" && exec "{MEMORYD}" run'
    machine.command = ["unshare", "--mount", "sh", "-c", mount]
    machine.start().settled()
    inside = Path(f"/proc/{machine.process.pid}/root{state}/filler")
    with inside.open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(bytes(4096))

    assert "disk_full" in machine.warnings()  # before anything has to be written
    (machine.notes / "2026-02-13.md").write_text("".join(f"- Sighting {n} of a dotterel\n" for n in range(300)))
    wait_for(lambda: "The disk is full." in machine.log.read_text(), 10, "the note meets the full disk")
    warning = machine.warnings()["disk_full"]
    assert "disk is full" in warning["message"]
    assert "Make room" in warning["fix"]
    assert machine.finds("marmot")
    assert machine.status()["pending"] > 0

    inside.unlink()
    wait_for(lambda: machine.finds("dotterel"), 20, "the note is in")
    wait_for(lambda: "disk_full" not in machine.warnings(), 10, "the warning is gone")


def test_without_a_token_local_work_goes_on(machine, sqld):
    """An autostart before the keyring exists is a state, auth_required, that is tried again (DA-7)."""
    machine.environment["TURSO_DATABASE_URL"] = sqld.url
    (machine.notes / "2026-02-13.md").write_text("- The marmot sleeps\n")
    machine.start().settled()

    assert machine.finds("marmot")
    wait_for(lambda: machine.status()["sync"]["state"] == "auth_required", 10, "the state says what is missing")
    wait_for(lambda: machine.status()["sync"]["next_retry_in_s"], 10, "the next try is known")
    assert machine.process.poll() is None


SLOW = """
import sys, memoryd.store.migrations as m
from memoryd.cli.main import main

class Folder:
    def joinpath(self, name):
        return self
    def read_text(self, _):
        return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000000) SELECT count(*) FROM n;"

m.resources.files = lambda package: Folder()
m.MIGRATIONS += ("later.sql",)
main()
"""


def test_who_asks_during_an_upgrade_is_told_and_touches_nothing(machine):
    """While the daemon upgrades its memory, status says so, and a reading command waits for the daemon (ST-2)."""
    (machine.notes / "2026-02-13.md").write_text("- The wheatear sings\n")
    machine.start().settled()
    machine.kill(signal.SIGTERM)
    machine.command = [sys.executable, "-c", SLOW, "run"]
    machine.process = machine.spawn()
    state = machine.root / "state"
    wait_for(lambda: list(state.glob("memory.db.before-*")), 20, "the upgrade begins")

    ask = partial(subprocess.run, env=machine.environment, cwd=machine.root, capture_output=True, text=True, timeout=60)
    told = ask([MEMORYD, "status"])
    waiting = ask([MEMORYD, "retrieve", "--query", "wheatear", "--json"])

    assert told.returncode == 75, told.stderr
    assert "does not answer yet" in told.stderr
    assert waiting.returncode == 0, waiting.stderr
    assert "wheatear" in waiting.stdout
    assert "the memory was upgraded" in machine.log.read_text()
    assert ask([MEMORYD, "status"]).returncode == 0


def test_status_never_touches_the_database(machine):
    """A status command asks the socket: it neither opens nor makes a state folder, with a daemon or without (ST-2)."""
    for n in range(40):
        (machine.notes / f"{1900 + n}-03-01.md").write_text(f"- Sighting {n} of a wheatear\n" * 5)
    machine.start()
    elsewhere = machine.environment | {"MEMORYD_STATE_DIR": str(machine.root / "elsewhere")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for _ in range(5):
        for each in [subprocess.Popen([MEMORYD, "status", "--json"], env=elsewhere, **pipes) for _ in range(10)]:
            out, errors = each.communicate(timeout=60)
            assert each.returncode == 0, errors
            assert json.loads(out)["pid"] == machine.process.pid
    machine.settled()
    machine.kill(signal.SIGTERM)

    done = subprocess.run([MEMORYD, "status"], env=elsewhere, capture_output=True, timeout=60)

    assert done.returncode == 3
    assert not (machine.root / "elsewhere").exists()


def test_a_note_saved_a_hundred_times_by_renaming_stays_one_note(machine):
    """`:w` in vim over and over: the same note and one live version, never deleted in between (WA-4)."""
    note = machine.notes / "2026-02-13.md"
    note.write_text("- The first line\n")
    machine.start().settled()
    for number in range(100):
        temporary = note.with_name(".n.swp")
        temporary.write_text(f"- The first line\n- Version {number} of the ouzel\n")
        temporary.replace(note)
        time.sleep(0.01)
    wait_for(lambda: machine.finds("Version 99 of the ouzel"), 10, "the last version is found")
    machine.settled()
    _, hits = machine.ask("POST", "/v1/retrieve", {"query": "ouzel"})
    assert [hit["text"] for hit in hits] == ["Version 99 of the ouzel"]
    machine.kill(signal.SIGTERM)

    with closing(Database(machine.root / "state" / "memory.db")) as db:
        rows = db.execute("SELECT path, state, deleted_at FROM notes")
        first = db.execute(
            "SELECT f.rev, d.state FROM facts f JOIN derived d ON d.n = f.n WHERE text = 'The first line'"
        )
    assert [(path, state in ("ok", "findings"), deleted) for path, state, deleted in rows] == [
        ("memory/2026-02-13.md", True, None)
    ]
    assert [state for _, state in first] == ["live"]


def test_clients_that_stall_never_hold_up_the_notes(machine):
    """With idle, half-open and unread connections by the dozen a saved note is searchable as ever."""
    machine.start().settled()
    connections = []
    try:
        for number in range(150):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(os.fspath(machine.socket))
            connections.append(connection)
            if number % 3 == 1:
                connection.sendall(b"POST /v1/store HTTP/1.1\r\nHost: memoryd\r\nContent-Length: 100\r\n\r\n{")
            elif number % 3 == 2:
                connection.sendall(b"GET /v1/status HTTP/1.1\r\nHost: memoryd\r\n\r\n" * 20)
        began = time.monotonic()
        (machine.notes / "2026-02-13.md").write_text("- The dotterel is tame\n")
        wait_for(lambda: machine.finds("dotterel"), 5, "the note is found")
        assert time.monotonic() - began < 5
        wait_for(lambda: descriptors(machine.process.pid) < 100, 10, "half-open clients were cut off")
    finally:
        for connection in connections:
            connection.close()


def test_a_damaged_database_does_not_keep_the_daemon_from_its_work(machine):
    """A spoiled file is moved aside, the notes are memory again, and status says so until somebody looked."""
    (machine.notes / "2026-02-13.md").write_text("- The marmot sleeps\n")
    machine.start().settled()
    machine.kill(signal.SIGTERM)
    database = machine.root / "state" / "memory.db"
    database.write_bytes(database.read_bytes()[:4096] + os.urandom(60_000))

    machine.start().settled()

    assert machine.finds("marmot")
    assert "notes alone" in machine.warnings()["rebuilt"]["message"]
    assert len(list((machine.root / "state").glob("memory.db.corrupt-*"))) == 1
    assert "the database is damaged" in machine.log.read_text()


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))
