"""The commands on cloud and devices, each on a whole memory with a real sqld."""

import shutil
import sqlite3
import sys
from types import SimpleNamespace

import pytest
from memoryd.config import Settings, SyncSettings
from memoryd.errors import ConfigError, MemorydError, NoInputError, UnavailableError, UsageError
from memoryd.operations.drill import drill_when_due
from memoryd.search.candidates import scope_of

DAY, OTHER = "memory/2026-02-13.md", "memory/2026-02-14.md"
WEEK_S = 7 * 86_400


@pytest.fixture
def cloud(sqld):
    """URL and token of a fresh cloud."""
    return {"url": sqld.url, "token": sqld.token()}


async def test_a_dry_run_shows_what_would_leave_and_sends_nothing(new_mind, cloud, sqld):
    """Rows by kind, notes, and the rows themselves; afterwards the real push sends exactly so many."""
    one = await new_mind(**cloud)
    await one.note(DAY, "- The heron fishes\n- password: hunter2secret\n")

    seen = await one.ask("sync", dry_run=True)

    assert sqld.query("SELECT count(*) FROM sqlite_master WHERE name = 'segments'") == [["0"]]
    assert seen["by_kind"]["mention"] == 2
    assert DAY in seen["notes"]
    assert "The heron fishes" in str(seen["first_rows"])
    assert "hunter2secret" not in str(seen)
    sent = await one.ask("sync", wait=True)
    assert sent["pushed"] == seen["rows"]
    assert (await one.ask("sync", dry_run=True))["rows"] == 0


@pytest.mark.parametrize(("command", "flags"), [("sync", {}), ("sync", {"wait": True}), ("sync-critical", {})])
async def test_without_a_daemon_what_is_on_disk_is_pushed(new_mind, cloud, sqld, command, flags):
    """Nobody else has looked at the notes since they were saved."""
    one = await new_mind(**cloud)
    (one.workspace / DAY).write_text("- The heron fishes\n")

    await one.ask(command, **flags)

    assert sqld.query("SELECT text FROM cold_memories") == [["The heron fishes"]]
    assert (await one.ask("sync"))["result"] == "no_change"


async def test_a_fact_that_undo_took_back_goes_everywhere(new_mind, cloud):
    """Another device takes it out of search too; verify, a drill and a restore agree."""
    one, two = await new_mind(**cloud), await new_mind(**cloud)
    await one.ask("hot", update=["lesson", '{"text": "Mesure twice"}'])
    await one.ask("hot", update=["lesson", '{"text": "Cut once"}'])
    for each in (one, two):
        await each.ask("sync", wait=True)
    assert (await two.states())["Mesure twice"] == "live"
    change = (await one.ask("undo", list=True))["changes"][-1]

    await one.ask("undo", n=change["n"])
    for each in (one, two):
        await each.ask("sync", wait=True)

    wanted = {"Mesure twice": "retracted", "Cut once": "live"}
    assert (await one.states(), await two.states()) == (wanted, wanted)
    assert (await two.ask("verify", deep=True))["equal"]
    assert (await one.ask("drill"))["proven"]
    three = await new_mind(**cloud)
    await three.ask("restore", from_=one.memory.device)
    assert await three.states() == wanted


async def test_receipts_are_what_the_cloud_holds(new_mind, cloud, sqld):
    """Hash, rows and bytes of each segment."""
    one = await new_mind(**cloud)
    await one.note(DAY, "- The heron fishes\n")
    await one.ask("sync", wait=True)
    told = await one.ask("sync", receipts=True)
    held = sqld.query("SELECT idx, sha256, rows, length(payload) FROM segments")
    assert [[str(r["idx"]), r["sha256"], str(r["rows"]), str(r["bytes"])] for r in told["receipts"]] == held
    assert told["receipts"][0]["confirmed"]
    assert told["bytes_today"] == sum(r["bytes"] for r in told["receipts"])


async def test_a_picture_that_somebody_spoilt_is_drawn_again(new_mind, cloud, sqld):
    """`--redraw` writes every row anew."""
    one = await new_mind(**cloud)
    await one.note(DAY, "- The heron fishes\n")
    await one.ask("sync", wait=True)
    sqld.query("DELETE FROM cold_memories")
    await one.ask("sync", redraw=True)
    assert sqld.query("SELECT text FROM cold_memories") == [["The heron fishes"]]


async def test_a_cloud_that_was_set_back_is_adopted(new_mind, cloud, sqld):
    """Under a new id everything is sent again; what the other device said before the loss stays here."""
    one, two = await new_mind(**cloud), await new_mind(**cloud)
    for n in range(3):
        await one.note(DAY, f"- Line {n}\n")
        await one.ask("sync", wait=True)
    await two.note(OTHER, "- From two\n")
    await two.ask("sync", wait=True)
    await one.ask("sync", wait=True)
    sqld.query(f"DELETE FROM segments WHERE idx > 1 AND device = '{one.memory.device}'")
    sqld.query(f"DELETE FROM segments WHERE device = '{two.memory.device}'")
    with pytest.raises(UnavailableError):
        await one.ask("sync", wait=True)

    done = await one.ask("sync", adopt=True)

    assert done["former"] != done["device"]
    assert done["pushed"] > 0
    assert {"Line 2", "From two"} <= set(await one.facts())
    with pytest.raises(UnavailableError):
        await two.ask("sync", wait=True)
    await two.ask("sync", adopt=True)
    await one.ask("sync", wait=True)
    for each in (one, two):
        facts = await each.facts()
        assert {text for text, (state, _) in facts.items() if state == "live"} == {"Line 2", "From two"}
        assert (await each.outcome("verify")).reply.equal


async def test_a_wiped_cloud_is_adopted_and_filled_again(new_mind, cloud, sqld):
    """The schema is made anew and a restore from it works."""
    one = await new_mind(**cloud)
    await one.note(DAY, "- The heron fishes\n")
    await one.ask("sync", wait=True)
    for table in ("segments", "meta", "cold_memories", "critical_state"):
        sqld.query(f"DROP TABLE {table}")
    await one.ask("sync", adopt=True)
    assert (await one.outcome("verify", deep=True)).reply.equal
    again = await one.ask("sync", adopt=True)  # e.g. since the first reply was lost
    assert again == {"device": one.memory.device, "former": one.memory.device, "pushed": 0, "pulled": 0}
    two = await new_mind(**cloud)
    assert (await two.ask("restore", from_=one.memory.device))["verified"]
    assert two.bytes_of_notes() == one.bytes_of_notes()


async def test_a_device_that_is_gone_is_retired(new_mind, cloud):
    """By id or name; not this one, not an unknown one, not twice."""
    one, two = await new_mind(**cloud), await new_mind(**cloud)
    await one.note(DAY, "- From one\n")
    await one.ask("sync", wait=True)
    await two.ask("sync", wait=True)
    gone = one.memory.device
    for named in ("nobody", two.memory.device):
        with pytest.raises(UsageError):
            await two.ask("devices", retire=named)
    assert await two.ask("devices", retire=gone) == {"retired": gone, "successor": two.memory.device, "sent": True}
    with pytest.raises(UsageError, match="taken over"):
        await two.ask("devices", retire=gone)
    told = {each["device"]: each["succeeded_by"] for each in (await two.ask("devices"))["devices"]}
    assert told[gone] == two.memory.device
    assert (await two.facts())["From one"][0] == "live"


async def test_conflicts_are_listed_and_nothing_is_merged(new_mind, cloud):
    """Same path with other bytes is one; the same bytes, or a device that was taken over, is none."""
    one, two = await new_mind(**cloud), await new_mind(**cloud)
    await one.note(DAY, "- Mine\n")
    await two.note(DAY, "- Yours\n")
    for mind in (one, two):
        await mind.note(OTHER, "- Both\n")
    for mind in (one, two, one):
        await mind.ask("sync", wait=True)
    (found,) = (await one.ask("conflicts"))["conflicts"]
    assert found["path"] == DAY
    assert {each["device"] for each in found["versions"]} == {one.memory.device, two.memory.device}
    assert (one.workspace / DAY).read_text() == "- Mine\n"
    await one.ask("devices", retire=two.memory.device)
    assert await one.ask("conflicts") == {"conflicts": []}


async def test_deleted_notes_come_back_without_a_cloud(mind):
    """For 90 days, byte for byte; what was written again under the same name is left alone."""
    await mind.note(DAY, "- Gone by accident\r\nplain")
    await mind.note(OTHER, "- Rewritten\n")
    for path in (DAY, OTHER):
        (mind.workspace / path).unlink()
    await mind.ask("rescan", confirm_deletes=True)
    await mind.note(OTHER, "- New words\n")

    done = await mind.ask("restore", deleted=True)

    assert (done["verified"], done["notes"]) == (True, 1)
    assert (mind.workspace / DAY).read_bytes() == b"- Gone by accident\r\nplain"
    assert (mind.workspace / OTHER).read_text() == "- New words\n"
    assert (await mind.facts())["Gone by accident plain"][0] == "live"


async def test_deleted_notes_stay_away_after_90_days(mind):
    """Then only their rows are left."""
    await mind.note(DAY, "- Gone for good\n")
    (mind.workspace / DAY).unlink()
    await mind.ask("rescan", confirm_deletes=True)
    mind.clock.advance(91 * 86_400)
    assert (await mind.ask("restore", deleted=True))["notes"] == 0


async def test_notes_come_back_as_they_were(new_mind, cloud, sqld):
    """Up to a time by the cloud's clock; with --merge beside what stands now; forgotten words stay away."""
    one = await new_mind(**cloud)
    await one.note(DAY, "- First words\n- A secret word\n")
    await one.ask("sync", wait=True)
    await one.note(DAY, "- Second words\n- A secret word\n")
    await one.ask("sync", wait=True)
    sqld.query("UPDATE segments SET at = 1770000000000 + idx * 86400000")
    with pytest.raises(NoInputError, match="reach back"):
        await one.ask("restore", as_of="2026-01-01")
    with pytest.raises(UsageError):
        await one.ask("restore", as_of="yesterday")
    with pytest.raises(MemorydError, match="differ"):
        await one.ask("restore", as_of="2026-02-03T20:00Z")

    done = await one.ask("restore", as_of="2026-02-03T20:00Z", merge=True)

    assert done["left_as_they_are"] == [DAY]
    (copy,) = (one.workspace / "memory/.restored").rglob("2026-02-13.md")
    assert copy.read_text() == "- First words\n- A secret word\n"
    assert (one.workspace / DAY).read_text() == "- Second words\n- A secret word\n"


async def test_a_drill_after_forgetting_proves_the_restore(new_mind, cloud):
    """Forgotten facts leave gaps in a memory that its restored copy has not; both answer alike all the same."""
    one = await new_mind(**cloud)
    await one.note("memory/2026-02-12.md", "".join(f"- Kestrel {n} listens on port {8000 + n}\n" for n in range(12)))
    for n in range(3, 9):
        await one.ask("forget", text=f"Kestrel {n} listens on port {8000 + n}")
    await one.ask("sync", wait=True)

    done = await one.ask("drill")
    counted = await one.memory.thread.call(lambda store: scope_of(store, None, 5).size)

    assert (done["differences"], done["searches"]) == ([], 6)
    assert counted == 6


async def test_a_drill_proves_the_restore_and_says_so_in_status(new_mind, cloud, sqld):
    """Rows, notes and searches are compared; a damaged row turns it red and is named; a week later it is due."""
    one = await new_mind(**cloud)
    await one.note(DAY, "".join(f"- Sighting {n} of a heron at lake {n}\n" for n in range(30)))
    assert one.memory.sync.status.last_drill is None
    done = await one.ask("drill")
    assert (done["proven"], done["notes"], done["differences"]) == (True, 1, [])
    assert done["rows"] > 60
    assert done["searches"] == 20

    sqld.query("UPDATE segments SET payload = zeroblob(20) WHERE idx = 1")
    await drill_when_due(one.memory)
    assert one.memory.sync.status.last_drill.differences == []
    one.clock.advance(WEEK_S)
    await drill_when_due(one.memory)
    (difference,) = one.memory.sync.status.last_drill.differences
    assert one.memory.device in difference
    assert "segment 1" in difference
    status = await one.ask("status")
    shown = status["sync"]["last_restore_drill"]
    assert (shown["proven"], shown["differences"]) == (False, [difference])
    assert shown["proven_at"] == pytest.approx(shown["at"] - WEEK_S)
    assert difference in next(each["message"] for each in status["warnings"] if each["code"] == "restore_unproven")
    # What was seen is answered: the next exchange sends the log anew.
    outcome = await one.outcome("drill")
    assert outcome.exit_code == 0
    assert list(one.places.state.glob("scratch-*")) == []


async def test_a_drill_asks_the_same_of_both_memories(new_mind, cloud):
    """An index that lost a fact answers otherwise than the restored one; of many gaps 20 questions still come."""
    one = await new_mind(**cloud)
    await one.note(DAY, "".join(f"- Sighting {n} of a heron at lake {n}\n" for n in range(400)))
    await one.note(DAY, "".join(f"- Sighting {n} of a heron at lake {n}\n" for n in range(0, 400, 13)))
    await one.sql(
        "DELETE FROM search_index WHERE rowid = (SELECT n FROM derived WHERE state = 'live' ORDER BY n LIMIT 1)"
    )

    done = (await one.outcome("drill")).reply

    assert done.searches == 20
    assert not done.proven
    assert all("answered otherwise" in each for each in done.differences)


async def test_a_memory_is_encrypted_joined_and_restored_by_command(new_mind, cloud, sqld, tmp_path):
    """Making a key shows it once it is kept; another device joins with a file; a wrong file changes nothing."""
    one, two = await new_mind(**cloud), await new_mind(**cloud)
    await one.note(DAY, "- The heron fishes\n")
    await one.ask("sync", wait=True)
    with pytest.raises(NoInputError):
        await one.ask("key", action="show")
    shown = await one.ask("key", action="init")
    assert (await one.ask("key", action="show"))["recovery_key"] == shown["recovery_key"]
    assert sqld.query("SELECT count(*) FROM cold_memories") == [["0"]]
    assert (await one.outcome("verify", deep=True)).reply.equal

    with pytest.raises(UsageError, match="does not have"):
        await two.ask("key", action="init")
    wrong = tmp_path / "wrong"
    wrong.write_text("AAAAA-AAAAA\n")
    with pytest.raises(UsageError, match="no recovery key"):
        await two.ask("key", action="init", file=str(wrong))
    right = tmp_path / "right"
    right.write_text(shown["recovery_key"] + "\n")
    await two.ask("key", action="init", file=str(right))
    assert (await two.ask("restore"))["verified"]
    assert two.bytes_of_notes() == one.bytes_of_notes()

    fresh = await two.ask("key", action="rotate")
    assert fresh["recovery_key"] != shown["recovery_key"]
    with pytest.raises(UnavailableError):
        await one.ask("sync", wait=True)


async def test_encryption_is_claimed_only_where_the_cloud_holds_no_words(new_mind, cloud, sqld, unpacked):
    """S4: off by default, and said so before anything is sent; with a key neither logs nor picture hold a word."""
    one = await new_mind(**cloud)
    await one.note(DAY, "- The heron fishes\n")

    def words():
        """All that the logs in the cloud say, as far as they can be unpacked."""
        blobs = "".join(f'"base64": "{payload}"' for (payload,) in sqld.query("SELECT payload FROM segments"))
        return b"".join(unpacked(blobs.encode())).decode("utf-8", "replace")

    before = await one.ask("sync", dry_run=True)
    await one.ask("sync", wait=True)

    assert before["encrypted"] is False
    assert "heron" in words()
    assert sqld.query("SELECT count(*) FROM cold_memories WHERE text LIKE '%heron%'") == [["1"]]
    await one.ask("key", action="init")
    await one.note(DAY, "- The heron fishes\n- The heron sleeps\n")
    after = await one.ask("sync", dry_run=True)
    await one.ask("sync", wait=True)
    assert (after["encrypted"], after["picture_rows"]) == (True, 0)
    assert "heron" not in words()
    assert sqld.query("SELECT count(*) FROM cold_memories") == [["0"]]


async def test_a_rotation_that_was_cut_off_never_shows_a_key_that_opens_nothing(new_mind, cloud, sqld, monkeypatch):
    """`key show` gives the key of the cloud, says that another waits, and the next rotation goes on with that one."""
    one = await new_mind(**cloud)
    await one.note(DAY, "- The heron fishes\n")
    first = await one.ask("key", action="init")

    async def falls(*_):
        raise KeyboardInterrupt

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr("memoryd.operations.key.encrypt", falls)
            with pytest.raises(KeyboardInterrupt):
                await one.ask("key", action="rotate")
    await one.close()
    await one.open(**cloud)
    shown = await one.ask("key", action="show")
    assert (shown["recovery_key"], shown["key_id"]) == (first["recovery_key"], first["key_id"])
    assert "key rotate" in shown["advice"]

    fresh = await one.ask("key", action="rotate")

    assert len(one.memory.sync.keys.keys) == 2
    assert sqld.query("SELECT v FROM meta")[0][0].endswith(fresh["key_id"])
    again = await one.ask("key", action="show")
    assert (again["recovery_key"], again.get("advice", "")) == (fresh["recovery_key"], "")


async def test_the_recovery_key_is_kept_where_the_configuration_says(new_mind, cloud, monkeypatch):
    """`key init` fills the keyring and writes no file; the next process finds the key there."""
    held = {}
    keyring = SimpleNamespace(
        errors=SimpleNamespace(KeyringError=OSError),
        get_password=lambda service, name: held.get((service, name)),
        set_password=lambda service, name, text: held.__setitem__((service, name), text),
    )
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    one = await new_mind(Settings(sync=SyncSettings(key_store="keyring")), **cloud)

    shown = await one.ask("key", action="init")

    assert list(held.values()) == [shown["recovery_key"] + "\n"]
    assert not list(one.places.state.glob("recovery*"))
    await one.close()
    await one.open(**cloud)
    assert (await one.ask("key", action="show"))["recovery_key"] == shown["recovery_key"]


async def test_forgetting_is_proven(new_mind, cloud, sqld):
    """Every place is named and empty; a log that still holds it, or cannot be read, is named."""
    one, two = await new_mind(**cloud), await new_mind(**cloud)
    words = "The code word is hyrax"
    await one.note(DAY, f"- {words}\n- Stays\n")
    await two.note(DAY, f"- {words}\n")
    await one.ask("hot", update=["identity", '{"name": "Ada"}'])
    for mind in (two, one):
        await mind.ask("sync", wait=True)

    outcome = await one.outcome("forget", text=words, prove=True)

    assert outcome.exit_code == 1
    proof = outcome.reply.proof
    holding = {each.where: each.holds for each in proof.checked if each.holds}
    assert list(holding) == [f"the log of device {two.memory.device}"]
    assert any("identity" in each for each in proof.not_searched)
    assert "provider" in proof.beyond_us
    await two.ask("sync", wait=True)
    again = await one.outcome("forget", text=words, prove=True)
    assert (again.exit_code, again.reply.proof.gone) == (0, True)
    assert len(again.reply.proof.checked) >= 5
    sqld.query(f"UPDATE segments SET payload = zeroblob(9) WHERE device = '{two.memory.device}'")
    assert (await one.outcome("forget", text=words, prove=True)).exit_code == 1


async def test_commands_on_the_cloud_need_one(mind):
    """Without a cloud they say so; forgetting is proven all the same."""
    for command, fields in (
        ("sync", {"dry_run": True}), ("devices", {"retire": "x"}), ("drill", {}), ("key", {"action": "show"}),
        ("restore", {"as_of": "2026-02-13"}),
    ):  # fmt: skip
        with pytest.raises(ConfigError):
            await mind.ask(command, **fields)
    await mind.note(DAY, "- A word\n")
    assert (await mind.outcome("forget", text="A word", prove=True)).exit_code == 0


async def test_a_single_command_promises_nothing_that_nobody_does(new_mind, cloud, sqld):
    """Without a daemon nothing goes on by itself."""
    one = await new_mind(**cloud)
    sqld.freeze()
    with pytest.raises(UnavailableError) as caught:
        await one.ask("sync", wait=True, timeout=0.3)
    sqld.thaw()
    assert "the next memoryd sync" in caught.value.hint


async def test_a_copied_disk_says_which_notes_it_lacks_or_holds_differently(new_mind, cloud):
    """After the new id was taken and the former log folded, once, with the way to bring them back."""
    one = await new_mind(**cloud)
    for n in (1, 2, 3):
        await one.note(f"memory/2026-02-0{n}.md", f"- Sighting {n}\n")
    await one.ask("sync", wait=True)
    former = one.memory.device
    await one.memory.close()
    copy = await new_mind()
    await copy.memory.close()
    shutil.copytree(one.places.state, copy.places.state, dirs_exist_ok=True)
    shutil.copytree(one.workspace, copy.workspace, dirs_exist_ok=True)
    await one.open(**cloud)
    await one.note("memory/2026-02-04.md", "- Only on the first\n")
    await one.note("memory/2026-02-01.md", "- Written on\n")
    await one.ask("sync", wait=True)
    with sqlite3.connect(copy.places.database) as db:
        db.execute("UPDATE meta SET v = ? WHERE k = 'workspace'", (str(copy.workspace),))
    db.close()

    await copy.open(**cloud)
    await copy.note("memory/2026-02-09.md", "- Only on the copy\n")
    await copy.ask("sync", wait=True)
    await copy.ask("sync", wait=True)

    lacking, differing = [each for each in copy.memory.sync.status.notices if "This disk" in each]
    assert "memory/2026-02-04.md" in lacking
    assert f"--from {former}" in lacking
    assert "memory/2026-02-01.md" in differing
    await copy.ask("rescan")
    assert len([each for each in copy.memory.sync.status.notices if "This disk" in each]) == 2


async def test_what_a_killed_process_left_aside_is_swept_and_hides_nothing_from_a_proof(new_mind, cloud):
    """A copy beside the database that still holds the words is named; the next start removes it."""
    one = await new_mind(**cloud)
    await one.note(DAY, "- The code word is hyrax\n")
    await one.ask("sync", wait=True)
    left = one.places.state / "scratch-abc"
    left.mkdir()
    (left / "copy.db-wal").write_bytes(b"... The code word is hyrax ...")

    proof = (await one.outcome("forget", text="The code word is hyrax", prove=True)).reply.proof

    assert [each.holds for each in proof.checked if each.holds] == [["copy.db-wal"]]
    await one.close()
    await one.open(**cloud)
    assert not left.exists()
    assert (await one.outcome("forget", text="The code word is hyrax", prove=True)).reply.proof.gone
