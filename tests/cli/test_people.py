"""Replies as people read them."""

import io

import pytest
from memoryd.cli.people import progress_bar, show_reply
from memoryd.cli.people_status import live_view
from memoryd.cli.people_times import duration
from rich.console import Console

STATUS = {
    "v": 1, "version": "0.1.0", "pid": 7, "uptime_s": 3725.0, "state": "degraded", "workspace": "/home/r/notes",
    "watcher": {"state": "native", "last_event_age_s": None, "last_scan_age_s": 12.0},
    "notes": {"known": 1234, "with_findings": 2,
              "unreadable": [{"path": "memory/a.md", "reason": "Permission denied"}],
              "quarantined": [], "skipped": [], "unmatched": 3},
    "pending": 0,
    "agents": {"default": {"facts": {"hot": 1, "warm": 2, "cold": 3, "frozen": 4},
                           "hot_bytes": 900, "warm_bytes": 10, "tree_nodes": 5, "tree_bytes": 100}},
    "sync": {"state": "backoff", "pending_rows": 17, "last_ok_at": None, "last_error": "no route",
             "next_retry_in_s": 40.0, "bytes_today": 0, "picture_pending": 0, "memory_hash": None},
    "warnings": [{"code": "inotify", "message": "No watches are left [bold].", "fix": "Raise max_user_watches."}],
}  # fmt: skip

HIT = {
    "id": "9c11", "text": "The heron [stands] at dusk", "category": "birds", "importance": 0.6, "tier": "warm",
    "metadata": {"urls": ["https://birds.example.org"], "commands": ["look up"], "paths": []},
    "sources": [{"file": "memory/2026-02-13.md", "lines": [3, 4], "date": "2026-02-13"},
                {"file": "MEMORY.md", "lines": [2, 2], "date": ""}],
}  # fmt: skip

DAMAGED = {"device": "d1", "idx": 4, "what": "damaged"}
RESTORED = {"notes": 7, "facts": 40, "seconds": 1.5, "verified": True, "masked_lines": 2}
LEDGER = {
    "file": "a.md",
    "lines": [{"line": 1, "state": "heading", "fact_id": None}, {"line": 2, "state": "fact", "fact_id": "9c11"}],
    "totals": {"heading": 1, "fact": 1},
}
FINDING = {"code": "unclosed_fence", "line": 7, "message": "The fence is never closed.", "suggestion": "Close it."}
LAPTOP = {"device": "abcd1234", "name": "laptop", "this": True, "last_seen": None}


def shown(command: str, reply: object) -> str:
    """What a person reads on a wide terminal without colours."""
    out = io.StringIO()
    show_reply(command, reply, Console(file=out, width=200, highlight=False))
    return out.getvalue()


def test_status_is_eight_lines_and_a_table_of_problems():
    """The lines say state, ages and counts; each problem has its fix, brackets shown as they are."""
    lines = shown("status", STATUS).splitlines()

    assert [line.split()[0] for line in lines[:8]] == [
        "memoryd", "workspace", "watcher", "notes", "pending", "facts", "agents", "cloud",
    ]  # fmt: skip
    assert "degraded" in lines[0]
    assert "up 1 h 2 min" in lines[0]
    assert "last event never" in lines[2]
    assert "17 rows to send" in lines[7]
    assert "next try in 40 s" in lines[7]
    assert any("No watches are left [bold]." in line and "Raise max_user_watches." in line for line in lines[8:])
    assert any("memory/a.md: Permission denied" in line for line in lines[8:])


def test_status_without_problems_ends_after_eight_lines():
    """A healthy memory shows no table."""
    healthy = STATUS | {"warnings": [], "notes": STATUS["notes"] | {"unreadable": []}}

    assert len(shown("status", healthy).splitlines()) == 8


def test_hits_name_file_and_lines():
    """A hit shows its words, where they stand, and what hangs on them."""
    text = shown("retrieve", [HIT])

    assert "1. The heron [stands] at dusk" in text
    assert "memory/2026-02-13.md:3-4 · MEMORY.md:2" in text
    assert "https://birds.example.org" in text
    assert "$ look up" in text


def test_an_envelope_admits_what_is_not_in_yet():
    """A stale envelope says so above its hits; an empty one says that nothing was found."""
    text = shown("retrieve", {"as_of": "", "pending": 1, "stale": True, "results": []})

    assert "Not everything on disk is in yet." in text
    assert "Nothing found." in text


@pytest.mark.parametrize(
    ("command", "reply", "wanted"),
    [
        ("verify", {"equal": True, "pending": 3, "differences": []}, "are equal; 3 rows are not sent yet"),
        ("verify", {"equal": False, "pending": 0, "differences": [DAMAGED]}, "device d1, segment 4: damaged"),
        ("restore", RESTORED, "7 notes and 40 facts in 1.5 s"),
        ("restore", RESTORED | {"verified": False}, "NOT verified"),
        ("restore", RESTORED | {"forgotten_lines": 1}, "1 lines hold masks where the notes held secrets."),
        ("restore", RESTORED | {"forgotten_lines": 1}, "1 lines say [forgotten]"),
        ("restore", RESTORED | {"left_as_they_are": ["memory/a.md"]}, "Left as it is: memory/a.md"),
        (
            "restore",
            RESTORED | {"incomplete": {"memory/b.md": "a chunk is missing"}},
            "memory/b.md: a chunk is missing",
        ),
        ("rescan", {"scanned": 10, "changed": 2, "seconds": 0.25}, "10 notes compared, 2 changed"),
        ("ledger", LEDGER, "    2  fact             9c11"),
        ("ledger", LEDGER, "1 heading, 1 fact"),
        ("validate", {"status": "ok", "message": "Nothing is missing.", "file": "a.md"}, "Nothing is missing."),
        ("validate", {"file": "a.md", "details": [FINDING]}, "a.md:7: The fence is never closed."),
        ("validate", {"files": [{"file": "b.md", "details": [FINDING]}]}, "    Close it."),
        ("devices", {"devices": [LAPTOP]}, "laptop (this one)"),
        ("metrics", {"identity": {}, "critical_lessons": [{"text": "Test [first]"}]}, "text: Test [first]"),
    ],
)
def test_every_reply_has_words_for_people(command, reply, wanted):
    """Sentences, tables, or names and values."""
    assert wanted in shown(command, reply)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.25, "0.25 s"), (42, "42 s"), (180, "3 min"), (18_600, "5 h 10 min"), (273_600, "3 d 4 h")]
)
def test_durations_are_short(seconds, words):
    """Two units at most."""
    assert duration(seconds) == words


def test_progress_shows_phase_and_count():
    """A report moves the bar; nothing of it stays when the command is done."""
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system=None)

    with progress_bar("restore", console) as report:
        report({"phase": "write", "done": 3, "of": 12})

    assert "write" in out.getvalue()
    assert "3/12" in out.getvalue()


def test_the_live_view_shows_the_last_saves_and_what_is_wrong():
    """The eight lines, the newest save first with its latency, then each problem with its fix."""
    saves = [
        {"path": "memory/2026-02-12.md", "at": 1000.0, "latency_s": 0.52},
        {"path": "memory/2026-02-13.md", "at": 1060.0, "latency_s": 0.341},
    ]
    out = io.StringIO()
    Console(file=out, width=200).print(live_view({**STATUS, "saves": saves}, 1062.0))
    text = out.getvalue()

    assert text.index("memoryd") < text.index("cloud") < text.index("2026-02-13.md") < text.index("2026-02-12.md")
    assert "341 ms" in text
    assert "2 s ago" in text
    assert "Raise max_user_watches." in text


def test_the_live_view_of_a_daemon_that_is_away_says_so():
    """An error takes the place of the status until the daemon answers again."""
    out = io.StringIO()
    Console(file=out, width=80).print(live_view({"error": {"message": "No daemon runs here.", "hint": "start it"}}, 0))
    assert out.getvalue().splitlines() == ["No daemon runs here.", "start it"]
