"""The promises of the README, each kept by a real daemon on a real folder."""

import os
import random
import shutil
import time

import pytest

DAY = "2026-02-13.md"
PAGE = "# Mine\n\n* Never deploy on Fridays   \n\n\ttabs and spaces stay  \n"


def stamps(device):
    """Bytes, inode and modification time of every daily note."""
    notes = sorted((device.workspace / "memory").rglob("*.md"))
    return {note: (note.read_bytes(), note.stat().st_ino, note.stat().st_mtime_ns) for note in notes}


def test_notes_are_never_written_moved_or_deleted(machine):
    """Whatever is stored, forgotten or rescanned, daily notes stay untouched; MEMORY.md keeps every byte of mine."""
    one = machine()
    one.write(DAY, "- The heron stands at dusk\n- The code word is hyrax\n")
    one.write("robin/2026-02-12.md", "- Robin feeds the gulls\n")
    (one.workspace / "MEMORY.md").write_text(PAGE)
    before = stamps(one)
    one.start()
    one.wait_until(lambda: one.knows("The code word is hyrax"), "the note is in")

    one.ask("forget", "--text", "The code word is hyrax")
    one.ask("store", "--text", "Test every backup", "--category", "lessons", "--importance", "0.9")
    one.ask("hot", "--update", "task", '{"text": "Call the printer"}')
    one.ask("rescan")
    one.wait_until(
        lambda: "Call the printer" in (one.workspace / "MEMORY.md").read_text(), "the managed block is written"
    )

    page = (one.workspace / "MEMORY.md").read_text()
    outside = page[: page.index("<!-- memoryd:begin -->")] + page[page.index("<!-- memoryd:end -->") + 20 :]
    assert stamps(one) == before
    assert outside.strip("\n") == PAGE.strip("\n")
    assert page.startswith(PAGE.rstrip("\n"))


def test_a_saved_note_becomes_searchable_by_itself(machine):
    """A note that is saved while the daemon runs is found without any command, in English and in Chinese."""
    one = machine().start()

    one.write(DAY, "- The whimbrel has seven whistles\n- 决定使用浏览器自动化\n")

    one.wait_until(lambda: one.knows("The whimbrel has seven whistles"), "the English line is found")
    one.wait_until(lambda: one.knows("决定使用浏览器自动化"), "the Chinese line is found")


def test_kill_at_any_moment_loses_nothing_acknowledged(machine):
    """Killed five times in the middle of its work, the daemon comes back with every stored fact and every line."""
    one, moments = machine(), random.Random(7)
    stored, written = [], []
    for round_ in range(5):
        one.start()
        for n in range(3):
            text = f"Stored fact {round_}{n} about terns"
            one.ask("store", "--text", text, "--category", "birds")
            stored.append(text)
        lines = [f"Line {round_}{n} about dunlins" for n in range(40)]
        one.write(f"2026-02-{round_ + 10}.md", "".join(f"- {line}\n" for line in lines))
        written += lines
        time.sleep(moments.uniform(0, 0.45))
        one.kill()

    one.start()
    one.ask("rescan")

    assert {hit["text"] for hit in one.hits("stored fact about terns")} == set(stored)
    assert all(one.knows(line) for line in moments.sample(written, 12))
    assert sum(one.ask("status")["agents"]["default"]["facts"].values()) == len(stored) + len(written)


def test_a_push_may_repeat_but_never_duplicates(machine, sqld):
    """The server dies again and again under the push; in the end every fact stands in the cloud once."""
    one = machine(cloud=True)
    for n in range(6):
        one.write(f"2026-03-0{n + 1}.md", "".join(f"- Sighting {n}{k} of the phalarope\n" for k in range(20)))
    one.start()
    for n in range(3):
        waiting = one.begin("sync", "--wait", "--timeout", "5")
        time.sleep(0.15)
        sqld.kill()
        one.write(f"2026-03-1{n}.md", f"- Late line {n} of the crane\n")
        sqld.start()
        waiting.communicate(timeout=30)

    one.ask("sync", "--wait", limit_s=90)

    one.wait_until(lambda: one.ask("status")["sync"]["picture_pending"] == 0, "the picture is drawn", 30)
    assert sqld.query("SELECT count(*), count(DISTINCT text) FROM cold_memories") == [["123", "123"]]
    assert sqld.query("SELECT count(DISTINCT device) FROM segments") == [["1"]]
    assert one.ask("verify", "--deep")["equal"] is True


def test_offline_costs_only_time(machine, sqld):
    """With the cloud gone notes are taken in and found; when it is back everything is sent."""
    one = machine(cloud=True)
    sqld.stop()
    one.start()

    one.write(DAY, "- The ibis came while the cloud was away\n")
    one.wait_until(lambda: one.knows("The ibis came while the cloud was away"), "found offline")
    one.wait_until(lambda: one.ask("status")["sync"]["pending_rows"] > 0, "status admits unsent rows")
    refused = one.run("sync", "--wait", "--timeout", "3", "--json")
    sqld.start()
    one.ask("sync", "--wait", limit_s=90)

    assert refused.returncode == 69
    assert one.ask("status")["sync"]["pending_rows"] == 0
    assert one.ask("verify")["equal"] is True


def test_unreadable_is_never_treated_as_deleted(machine):
    """A note whose mode forbids reading stays memory, and status lists it until it can be read again."""
    one = machine()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root reads everything, and there is no setpriv to take that away")
        one.prefix = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--"]
    note = one.write(DAY, "- The otter remembers\n")
    one.start()
    one.wait_until(lambda: one.knows("The otter remembers"), "the note is in")

    note.write_text("- The otter remembers\n- And adds a line\n")
    note.chmod(0)
    one.ask("rescan")
    listed = one.ask("status")["notes"]["unreadable"]
    known_meanwhile = one.knows("The otter remembers")
    note.chmod(0o600)
    one.ask("rescan")

    assert known_meanwhile
    assert [each["path"] for each in listed] == [f"memory/{DAY}"]
    assert one.ask("status")["notes"]["unreadable"] == []
    assert one.knows("And adds a line")


def test_status_never_hides_a_lost_folder(machine):
    """When the notes' folder is gone, status leaves ok, says why, and keeps the memory."""
    one = machine()
    for n in range(1, 7):
        one.write(f"2026-02-0{n}.md", f"- Bird {n} is a wheatear\n")
    one.start()
    one.wait_until(lambda: one.knows("Bird 6 is a wheatear"), "the notes are in")

    (one.workspace / "memory").rename(one.root / "elsewhere")
    one.wait_until(lambda: one.ask("status")["state"] == "degraded", "status is degraded", 30)

    assert one.ask("status")["warnings"]
    assert one.knows("Bird 6 is a wheatear")


def test_secrets_stay_in_the_note(machine, sqld):
    """A secret is masked in every answer, in the state folder, in the log and in the cloud."""
    secret = "ghp_" + "R4nd0mLooking" + "Str1ng0f36Charz09"
    one = machine(cloud=True)
    one.write(DAY, f"- The deploy token is {secret} for now\n- The grebe is harmless\n")
    one.start()
    one.wait_until(lambda: one.knows("The grebe is harmless"), "the note is in")
    one.ask("sync", "--wait")
    token = one.env["TURSO_AUTH_TOKEN"]
    one.stop()

    assert secret not in one.log
    assert token not in one.log
    files = [path for path in (one.root / "state").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if secret.encode() in path.read_bytes() or token.encode() in path.read_bytes()]
    assert sqld.query(f"SELECT count(*) FROM cold_memories WHERE text LIKE '%{secret}%'") == [["0"]]
    assert sqld.query("SELECT count(*) FROM cold_memories WHERE text LIKE '%[masked:%'") == [["1"]]


def test_agents_do_not_see_each_other(machine):
    """Robin's notes are Robin's; everybody's are found only when asked for."""
    one = machine()
    one.write("robin/2026-02-13.md", "- Robin prefers window seats\n")
    one.start()
    one.wait_until(lambda: one.knows("Robin prefers window seats", "--agent-id", "robin"), "Robin's note is in")

    assert not one.hits("Robin prefers window seats")
    assert one.knows("Robin prefers window seats", "--all-agents")
