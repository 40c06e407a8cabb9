"""Working tasks: files that survive, of one agent each, never larger than 10 KB, never read as notes."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.errors import AccessError, MemorydError, NoInputError, UsageError
from memoryd.operations.task_file import MAX_BYTES, DamagedTaskError, checked_task, encoded, masked


async def test_a_task_is_taken_up_again_where_it_was_left(mind):
    """Goal, notes and checkpoint are in the file after the memory was opened anew."""
    await mind.ask("task", action="start", name="搬家 2026", goal="Move", checkpoint='{"step": 1}')
    await mind.ask("task", action="update", name="搬家 2026", note=["Boxes are packed"], checkpoint='{"step": 2}',
                   status="paused")  # fmt: skip
    await mind.close()
    await mind.open()

    shown = await mind.ask("task", action="show", name="搬家 2026")
    listed = await mind.ask("task", action="list")

    assert shown["task"]["checkpoint"] == {"step": 2}
    assert [each["text"] for each in shown["task"]["notes"]] == ["Boxes are packed"]
    assert shown["file"] == "memory/working/搬家 2026.json"
    assert [(each["name"], each["status"], each["goal"]) for each in listed["tasks"]] == [
        ("搬家 2026", "paused", "Move")
    ]


async def test_a_finished_task_becomes_facts_and_its_file_goes(mind):
    """Outcome, lesson, goal and notes are found; a lesson is one whatever its words say."""
    await mind.ask("task", action="start", name="port", goal="Move kestrel to the new host", note=["Copied the data"])

    reply = await mind.ask("task", action="finish", name="port", outcome="Kestrel runs on the new host",
                           lesson=["The TTL goes down a day before"])  # fmt: skip

    assert len(reply["facts"]) == 4
    assert reply["removed"]
    assert not list(mind.workspace.glob("memory/working/*"))
    assert "Kestrel runs on the new host" in await mind.hits("kestrel host")
    rows = await mind.sql("SELECT kind, category FROM derived d JOIN facts f ON f.n = d.n WHERE f.text LIKE 'The TTL%'")
    assert rows == [("lesson", "tasks/port")]


async def test_what_was_forgotten_is_not_stored_by_a_finished_task(mind):
    """The task can be finished all the same, and `forget` says where the task still says it."""
    await mind.ask("store", text="The lamp is blue", category="home")
    await mind.ask("task", action="start", name="lamp", note=["The lamp is blue"])

    forgotten = await mind.ask("forget", text="The lamp is blue")
    reply = await mind.ask("task", action="finish", name="lamp", outcome="It hangs")

    assert forgotten["still_in_notes"] == ["memory/working/lamp.json:9"]
    assert len(reply["facts"]) == 1
    assert list(await mind.facts()) == ["It hangs"]


async def test_working_tasks_are_no_notes(mind):
    """A scan sees neither a fact nor a problem in them."""
    await mind.ask("task", action="start", name="port", goal="Move kestrel")
    await mind.memory.rescan()

    status = await mind.ask("status")

    assert await mind.facts() == {}
    assert (status["notes"]["known"], status["notes"]["skipped"], status["notes"]["unmatched"]) == (0, [], 0)


async def test_agents_do_not_see_each_others_tasks(mind):
    """The same name is another file; a list shows one's own."""
    await mind.ask("task", action="start", name="port", goal="mine")
    await mind.ask("task", agent_id="robin", action="start", name="port", goal="robin's")

    assert [each["goal"] for each in (await mind.ask("task", action="list"))["tasks"]] == ["mine"]
    shown = await mind.ask("task", agent_id="robin", action="show", name="port")
    assert (shown["file"], shown["task"]["goal"]) == ("memory/working/robin/port.json", "robin's")
    with pytest.raises(NoInputError):
        await mind.ask("task", agent_id="alex", action="show", name="port")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "x.", " x", "x\n", "a\0b", "-flag", "名" * 80,
             "token ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"],
)  # fmt: skip
async def test_a_name_that_is_no_safe_file_name_is_refused(mind, name):
    """Nothing is written anywhere."""
    with pytest.raises(UsageError):
        await mind.ask("task", action="start", name=name)

    assert not list(mind.workspace.rglob("*.json"))


@given(st.text(max_size=30))
def test_every_accepted_name_stays_in_its_folder(name):
    """Whatever the name: one plain part of a path, or refused."""
    try:
        found = checked_task(name)
    except UsageError:
        return
    assert os.path.normpath(f"/w/{found}.json") == f"/w/{found}.json"
    assert Path(f"/w/{found}.json").name == f"{found}.json"
    assert not found.startswith(".")


async def test_names_that_differ_by_case_only_are_one(mind):
    """Some file systems would give them one file."""
    await mind.ask("task", action="start", name="Port")

    with pytest.raises(UsageError, match="'Port'"):
        await mind.ask("task", action="start", name="port")


async def test_a_link_does_not_lead_out_of_the_workspace(mind, tmp_path):
    """Neither a linked folder nor a linked file is written through."""
    (mind.workspace / "memory" / "working").symlink_to(tmp_path)
    with pytest.raises(AccessError):
        await mind.ask("task", action="start", name="port")
    (mind.workspace / "memory" / "working").unlink()
    (mind.workspace / "memory" / "working").mkdir()
    outside = tmp_path / "outside.json"
    outside.write_text('{"notes": []}')
    (mind.workspace / "memory" / "working" / "port.json").symlink_to(outside)

    with pytest.raises(MemorydError):
        await mind.ask("task", action="update", name="port", note=["x"])

    assert outside.read_text() == '{"notes": []}'


async def test_a_task_above_ten_kilobytes_is_refused_and_nothing_is_lost(mind):
    """The file keeps what it held, to the byte."""
    await mind.ask("task", action="start", name="big", note=["first"])
    file = mind.workspace / "memory/working/big.json"
    before = file.read_bytes()

    with pytest.raises(UsageError, match="10,240"):
        await mind.ask("task", action="update", name="big", note=["é" * 6000])

    assert file.read_bytes() == before
    room = MAX_BYTES - len(encoded({"n": ""}))
    assert len(encoded({"n": "x" * room})) == MAX_BYTES
    with pytest.raises(UsageError):
        encoded({"n": "x" * (room + 1)})


async def test_a_damaged_file_is_reported_and_left_alone(mind):
    """Bad JSON, an empty file, an array: named by list, refused by every other action, never changed."""
    await mind.ask("task", action="start", name="good")
    folder = mind.workspace / "memory" / "working"
    bad = {"cut.json": b'{"notes": [', "empty.json": b"", "array.json": b"[1]", "odd.json": b'{"notes": 3}',
           "bytes.json": b"\xff\xfe", "deep.json": b'{"notes":' + b"[" * 9_000}  # fmt: skip
    for name, data in bad.items():
        (folder / name).write_bytes(data)

    listed = await mind.ask("task", action="list")
    for name in bad:
        for action in ("update", "show", "finish", "remove"):
            more = {"note": ["x"]} if action == "update" else {}
            with pytest.raises(DamagedTaskError):
                await mind.ask("task", action=action, name=name.removesuffix(".json"), **more)

    assert [each["name"] for each in listed["tasks"]] == ["good"]
    assert sorted(each["path"] for each in listed["damaged"]) == sorted(f"memory/working/{name}" for name in bad)
    assert {name: (folder / name).read_bytes() for name in bad} == bad


async def test_what_is_no_plain_file_does_not_hide_the_other_tasks(mind, tmp_path):
    """A link, a folder and a pipe are named as damaged; none is followed, and no command waits for the pipe."""
    await mind.ask("task", action="start", name="good")
    folder = mind.workspace / "memory" / "working"
    (tmp_path / "outside.json").write_text('{"goal": "secret"}')
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")

    listed = await mind.ask("task", action="list")

    assert [each["name"] for each in listed["tasks"]] == ["good"]
    assert [each["path"].rpartition("/")[2] for each in listed["damaged"]] == ["folder.json", "link.json", "pipe.json"]
    for name in ("link", "folder", "pipe"):
        with pytest.raises(DamagedTaskError):
            await mind.ask("task", action="show", name=name)
        with pytest.raises(DamagedTaskError):
            await mind.ask("task", action="update", name=name, note=["x"])


async def test_a_checkpoint_without_end_is_refused(mind):
    """Brackets nested by the thousand are no JSON that anybody reads."""
    with pytest.raises(UsageError, match="no JSON"):
        await mind.ask("task", action="start", name="deep", checkpoint="[" * 9_000)


async def test_forgetting_names_tasks_that_quote_the_sentence(mind):
    """JSON writes a quote with a backslash, and other programs any letter as a number."""
    said = 'The heron said "no" to 茶'
    await mind.ask("store", text=said, category="birds")
    await mind.ask("task", action="start", name="one", note=[said])
    (mind.workspace / "memory/working/two.json").write_text(json.dumps({"notes": [said]}))

    reply = await mind.ask("forget", text=said)

    assert reply["still_in_notes"] == ["memory/working/one.json:9", "memory/working/two.json:1"]


async def test_forgetting_does_not_ask_a_linked_folder(mind, tmp_path):
    """The fact goes all the same: behind a link memoryd keeps no tasks."""
    await mind.ask("store", text="The lamp is blue", category="home")
    (mind.workspace / "memory" / "working").symlink_to(tmp_path)

    await mind.ask("forget", text="The lamp is blue")

    assert await mind.facts() == {}


async def test_what_a_person_wrote_into_the_file_stays(mind):
    """Unknown keys survive every change."""
    await mind.ask("task", action="start", name="port")
    file = mind.workspace / "memory/working/port.json"
    found = json.loads(file.read_text())
    file.write_text(json.dumps({**found, "mine": {"deep": [1, "ü"]}}))

    await mind.ask("task", action="update", name="port", note=["went on"])

    now = json.loads(file.read_text())
    assert now["mine"] == {"deep": [1, "ü"]}
    assert [each["text"] for each in now["notes"]] == ["went on"]


async def test_commands_at_the_same_moment_all_count(mind):
    """Twenty notes at once: twenty notes."""
    await mind.ask("task", action="start", name="port")

    await asyncio.gather(*(mind.ask("task", action="update", name="port", note=[f"note {n}"]) for n in range(20)))

    shown = await mind.ask("task", action="show", name="port")
    assert {each["text"] for each in shown["task"]["notes"]} == {f"note {n}" for n in range(20)}
    assert [file.name for file in (mind.workspace / "memory/working").iterdir()] == ["port.json"]


async def test_secrets_are_masked_before_anything_is_written(mind):
    """In texts, in a checkpoint by its key, and in the key itself."""
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    checkpoint = json.dumps({"db": {"password": "correct-horse-9"}, "tokens": [token], token: 1, "step": 2})

    reply = await mind.ask("task", action="start", name="port", note=[f"the token is {token}"], checkpoint=checkpoint)

    data = (mind.workspace / "memory/working/port.json").read_text()
    assert token not in data
    assert "correct-horse-9" not in data
    assert reply["masked"] == 4
    assert reply["task"]["checkpoint"]["step"] == 2


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
                    max_leaves=6))  # fmt: skip
def test_a_checkpoint_without_secrets_comes_back_as_it_was(value):
    """Masking neither moves nor changes anything else."""
    found, count = masked(value, "checkpoint")

    assert count or found == value


@pytest.mark.parametrize(
    "given",
    [
        {"action": "start", "name": "x", "outcome": "y"},
        {"action": "list", "name": "x"},
        {"action": "update", "name": "x"},
        {"action": "start", "name": "x", "checkpoint": "{"},
    ],
)
async def test_flags_that_do_not_belong_to_the_action_are_refused(mind, given):
    """One sentence, nothing written."""
    with pytest.raises(UsageError):
        await mind.ask("task", **given)

    assert not list(mind.workspace.rglob("*.json"))


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "deep", "late"])
async def test_a_file_that_is_no_task_hides_no_other(mind, kind):
    """The list names it and shows the rest; a pipe holds nobody up, and nesting of any depth is damage."""
    await mind.ask("task", action="start", name="whole", goal="Stay visible")
    odd = mind.workspace / "memory/working/odd.json"
    if kind == "folder":
        odd.mkdir()
    elif kind == "link":
        odd.symlink_to("/etc/hostname")
    elif kind == "pipe":
        os.mkfifo(odd)
    elif kind == "deep":
        odd.write_text('{"checkpoint": ' + "[" * 3000 + "]" * 3000 + "}")
    else:
        odd.write_text('{"updated_at": 1' + "0" * 400 + "}")

    listed = await mind.ask("task", action="list")

    assert "whole" in [each["name"] for each in listed["tasks"]]
    assert [each["path"] for each in listed["damaged"]] == ([] if kind == "late" else ["memory/working/odd.json"])


@pytest.mark.parametrize("levels", [101, 400, 900, 5_000])
async def test_a_checkpoint_that_is_nested_too_deeply_is_refused(mind, levels):
    """One sentence instead of a stack that ends, whatever the depth; nothing is written."""
    with pytest.raises(UsageError, match="nested deeper than 100 levels"):
        await mind.ask("task", action="start", name="deep", checkpoint="[" * levels + "]" * levels)

    assert not list(mind.workspace.glob("memory/working/*.json"))


async def test_a_secret_in_a_checkpoints_names_is_masked(mind):
    """A name is a text like any other."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"

    reply = await mind.ask("task", action="start", name="keys", checkpoint=json.dumps({secret: {"n": 1}}))

    assert reply["masked"] == 1
    assert secret not in (mind.workspace / "memory/working/keys.json").read_text()
