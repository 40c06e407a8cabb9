"""The whole command line in this process, against a daemon that says what the test wants."""

import io
import json
import subprocess
import sys
import textwrap

import pytest
from memoryd.cli import main, perform
from memoryd.cli.client import Answer
from memoryd.cli.main import run

STATUS_KEYS = {"v": 1, "state": "ok"}


def test_a_reply_is_json_where_no_terminal_is(daemon, capfdbinary):
    """Chinese stays readable, and the exit code is the daemon's."""
    daemon.says([{"text": "浏览器"}], Memoryd_Exit="1")

    code = run(["retrieve", "--query", "浏览器"])

    out, err = capfdbinary.readouterr()
    assert code == 1
    assert json.loads(out) == [{"text": "浏览器"}]
    assert "浏览器".encode() in out
    assert err == b""


def test_common_flags_may_stand_before_and_after_the_command(daemon, capfd, tmp_path):
    """A workspace named by flag wins over the environment, and is sent as an absolute path."""
    daemon.says({})

    assert run(["--workspace", str(tmp_path / "a"), "retrieve", "--query", "x", "--json"]) == 0
    assert run(["retrieve", "--query", "x", "--workspace", str(tmp_path / "b"), "--json"]) == 0

    sent = [
        line for request in daemon.requests for line in request.split(b"\r\n") if line.startswith(b"Memoryd-Workspace")
    ]
    assert sent == [f"Memoryd-Workspace: {tmp_path}/{name}".encode() for name in "ab"]


def test_an_instance_has_its_own_socket(start_daemon, tmp_path, capfd):
    """`--instance second` asks the socket in `memoryd-second`."""
    start_daemon(tmp_path / "run" / "memoryd-second" / "memoryd.sock").says({})

    assert run(["status", "--instance", "second"]) == 0
    assert run(["status"]) == 3


@pytest.mark.parametrize("command", [["status"], ["store", "--text", "x", "--category", "a"], ["sync", "--wait"]])
def test_a_cloud_named_to_a_command_beside_a_daemon_is_told_not_to_be_used(daemon, capfd, command):
    """One sentence on stderr for each command, also with --json; the reply is the daemon's."""
    daemon.says({})

    assert run([*command, "--db-url", "http://127.0.0.1:9", "--json"]) == 0

    out, err = capfd.readouterr()
    assert "the running daemon uses its own cloud; --db-url and --auth-token are not used." in err
    assert json.loads(out) == {}


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["nonsense"], 64, "nonsense"),
        (["store", "--text", "x"], 64, "--category"),
        (["store", "--text", "x", "--category", "a", "--importance", "5"], 64, "--importance"),
        (["retrieve", "--query", "x", "--limit", "many"], 64, "--limit"),
        (["retrieve", "--query", "x", "--agent-id", "../robin"], 64, "--agent-id"),
        (["status", "--instance", "a/b"], 64, "a/b"),
        (["status"], 3, "No daemon"),
        ([], 64, "No command"),
    ],
)
def test_errors_are_a_sentence_and_an_exit_code(arguments, code, word, capfd):
    """Nothing stands on stdout, one sentence and a hint on stderr; with --json an error object."""
    assert run(arguments) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert word in err
    assert "Traceback" not in err

    assert run([*arguments, "--json"]) == code
    error = json.loads(capfd.readouterr().err)["error"]
    assert set(error) == {"code", "message", "hint"}
    assert error["hint"]


def test_an_unexpected_error_is_one_sentence(monkeypatch, capfd):
    """A fault of ours shows no traceback, and says how to report it; MEMORYD_DEBUG=1 shows it."""

    def broken(*_: object) -> Answer:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(perform, "perform", broken)

    assert run(["retrieve", "--query", "x"]) == 1
    err = capfd.readouterr().err
    assert "ZeroDivisionError" in err
    assert "MEMORYD_DEBUG" in err
    assert "secret detail" not in err

    monkeypatch.setenv("MEMORYD_DEBUG", "1")
    assert run(["retrieve", "--query", "x"]) == 1
    assert "Traceback" in capfd.readouterr().err


def test_ctrl_c_ends_cleanly(monkeypatch, capfd):
    """An interrupt is exit code 130 and says nothing."""

    def interrupted(*_: object) -> Answer:
        raise KeyboardInterrupt

    monkeypatch.setattr(perform, "perform", interrupted)

    assert run(["retrieve", "--query", "x"]) == main.INTERRUPTED
    assert "Traceback" not in capfd.readouterr().err


def test_a_reader_that_goes_away_is_no_error(daemon):
    """`memoryd … | true` ends with 141 and an empty stderr."""
    daemon.says([{"text": "x" * 1000}] * 1000)
    command = f"{sys.executable} -c 'from memoryd.cli.main import main; main()' retrieve --query x"

    done = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True, timeout=30
    )

    assert (done.returncode, done.stderr) == (main.PIPE_CLOSED, "")


def test_a_token_in_the_arguments_is_warned_of(daemon, capfd):
    """The token is visible to others and of no use to a running daemon; it is not repeated."""
    daemon.says({})

    assert run(["devices", "--auth-token", "t0ken", "--json"]) == 0

    err = capfd.readouterr().err
    assert "TURSO_AUTH_TOKEN" in err
    assert "t0ken" not in err


def test_a_daemon_of_another_version_is_named_once(daemon, capfd):
    """One warning line says both versions and what to do."""
    daemon.says({}, Memoryd_Version="0.0.1")

    assert run(["devices", "--json"]) == 0

    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "0.0.1" in lines[0]


def test_restore_refuses_beside_a_daemon(daemon, capfd):
    """It is told before anything is sent."""
    assert run(["restore"]) == 75
    assert "service stop" in capfd.readouterr().err
    assert daemon.requests == []


def test_the_quick_path_imports_nothing_heavy(daemon):
    """`memoryd status` loads no library that costs more than the question."""
    daemon.says(STATUS_KEYS)
    heavy = {
        "httpx",
        "asyncio",
        "rich",
        "platformdirs",
        "starlette",
        "uvicorn",
        "watchdog",
        "markdown_it",
        "http.client",
    }
    program = textwrap.dedent("""
        import sys
        from memoryd.cli.main import run
        code = run(["status"])
        print(code, *sys.modules, sep="\\n", file=sys.stderr)
    """)

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)

    code, *modules = done.stderr.splitlines()
    assert code == "0", done.stderr
    assert json.loads(done.stdout) == STATUS_KEYS
    assert not heavy & set(modules)
    rooms = {name.split(".")[1] for name in modules if name.startswith("memoryd.")}
    assert rooms == {"cli", "errors", "places", "operations"}


def test_people_get_words_on_a_terminal(daemon, monkeypatch):
    """Where stdout is a terminal, a reply is words and not JSON."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    daemon.says({"scanned": 3, "changed": 1, "seconds": 0.5})
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)

    assert run(["rescan"]) == 0
    assert "3 notes compared, 1 changed, in 0.5 s." in terminal.getvalue()
