"""Working tasks, sessions and dreams as a user types them: through a daemon's socket, and without one."""

import json
import statistics
import threading
import time

import pytest


@pytest.mark.parametrize("with_daemon", [True, False], ids=["socket", "alone"])
def test_the_layers_work_through_the_socket_and_alone(machine, with_daemon):
    """The same replies from both doors: a task, a session, a dream, its undo."""
    one = machine()
    if with_daemon:
        one.start()
    started = one.ask("task", "start", "port", "--goal", "Move kestrel", "--checkpoint", '{"step": 1}')
    one.ask("task", "update", "port", "--note", "The data is copied")
    one.ask("session", "add", "--text", "Which port?", "--role", "user")
    finished = one.ask("task", "finish", "port", "--outcome", "Kestrel runs on the new host")
    ended = one.ask("session", "end", "--summary", "Kestrel listens on 8080")
    for text in ("Use 150-char abstracts", "Use 150-char abstracts in briefings"):
        one.ask("store", "--text", text, "--category", "writing", "--importance", "0.8")
    dreamt = one.ask("dream")
    again = one.ask("dream")
    log = one.ask("dream", "--log")["log"]
    back = one.ask("undo", "--dream")

    assert started["task"]["checkpoint"] == {"step": 1}
    assert (finished["removed"], len(finished["facts"])) == (True, 3)
    assert [turn["text"] for turn in ended["turns"]] == ["Which port?"]
    assert (dreamt["merged"], again["steps"]) == (1, [])
    assert [each["step"] for each in log] == ["merge"]
    assert (back["what"], back["rows"]) == ("dream", 1)
    assert one.knows("Use 150-char abstracts")
    assert one.run("task", "start", "../x").returncode == 64
    assert one.run("task", "show", "port").returncode == 66
    assert one.run("session", "show", "nothing").returncode == 66


def test_parallel_processes_lose_no_note_of_a_task(machine):
    """Ten commands at once without a daemon: ten notes."""
    one = machine()
    one.ask("task", "start", "port")
    running = [one.begin("task", "update", "port", "--note", f"note {n}") for n in range(10)]

    outputs = [process.communicate(timeout=100) for process in running]

    assert [process.returncode for process in running] == [0] * 10, outputs
    notes = json.loads((one.workspace / "memory/working/port.json").read_text())["notes"]
    assert {each["text"] for each in notes} == {f"note {n}" for n in range(10)}


def test_questions_during_a_dream_are_answered_at_once(machine):
    """The dream makes way: it takes longer, the answers do not."""
    one = machine()
    lines = "".join(f"- Lesson: rule {n} alpha beta\n- Lesson: rule {n} alpha beta gamma\n" for n in range(400))
    (one.workspace / "memory" / "2026-02-10.md").write_text("# Lessons\n" + lines)
    one.start()
    one.ask("rescan")

    def asked() -> float:
        began = time.monotonic()
        assert one.post("/v1/retrieve", {"query": "rule 17 alpha"})
        return time.monotonic() - began

    idle = statistics.median(asked() for _ in range(10))
    replies, took = [], []
    dream = threading.Thread(target=lambda: replies.append(one.ask("dream")))
    dream.start()
    while dream.is_alive():
        took.append(asked())
        time.sleep(0.01)
    dream.join()

    assert replies[0]["merged"] == 400
    assert replies[0]["paused"] >= 1
    assert len(took) >= 3
    assert statistics.median(took) <= idle + 0.2
