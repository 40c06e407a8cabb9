"""Restore against a real server: byte for byte, checked first, resumable, and with a token that may only read."""

import os

import pytest
from memoryd.errors import MemorydError, NoInputError, UsageError
from memoryd.store.notes import StatedNote, apply_note
from memoryd.sync.files import is_safe, stamp
from memoryd.sync.restore import finish_restore, write_notes
from memoryd.sync.restore_plan import plan_restore
from memoryd.sync.verify import verify

from .conftest import AGENT, parsed

NOTES = {
    "MEMORY.md": b"# Rules\n- Be kind to herons\n",
    "memory/2026-02-13.md": "- The heron fishes\r\n今天下雨\n".encode(),
    "memory/2026-02-14-evening.md": b"- nul \x00 and caf\xe9 latin\n",
    "memory/2026-02-15.md": b"",
    "memory/robin/2026-02-13.md": b"- big\n" + b"x" * 80 + b"\n" * 200_000,
    "memory/custom_dict.txt": "五元组\n".encode(),
}


async def back_up(peer, name="old", notes=NOTES, **options):
    """A device whose notes are all in the cloud."""
    one = await peer(name, **options)
    for path, data in notes.items():
        await take_in(one, path, data)
    await one.sync.exchange()
    return one


async def take_in(one, path, data):
    """Ingest a file: its first line is a fact, its bytes are backed up."""
    note = parsed(data.decode(errors="replace").replace("\0", "").split("\n")[0])
    note.body = data
    await one.write(lambda tx: apply_note(tx, StatedNote(AGENT, path, len(data), note)))


async def ingest(one, root, paths):
    """What operations do between writing and finishing."""
    for path in paths:
        await take_in(one, path, (root / path).read_bytes())


async def restore(one, root, **options):
    """All three steps."""
    plan = await plan_restore(one.sync, root, **options)
    await ingest(one, root, await write_notes(one.sync, plan))
    return await finish_restore(one.sync, plan)


def files(root):
    """Every file below a folder, by relative path."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def root(tmp_path):
    """An empty workspace."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


async def test_every_note_comes_back_byte_for_byte_with_a_token_that_only_reads(peer, sqld, root):
    """CRLF, NUL, bad UTF-8, empty and large notes are restored exactly, and the old device is succeeded."""
    old = await back_up(peer)
    new = await peer("new", token=sqld.token("ro"))
    done = await restore(new, root)
    assert files(root) == NOTES
    assert (done.verified, done.notes, done.succeeded) == (True, len(NOTES), True)
    assert done.incomplete == {}
    assert await new.rows("SELECT succeeds FROM devices WHERE device = (SELECT v FROM meta WHERE k = 'device')") == [
        (f'["{await old.device()}"]',)
    ]
    assert await new.rows("SELECT count(*) FROM chunks WHERE rev = 0") == [(0,)]
    assert (await verify(new.sync)).equal


async def test_masked_and_forgotten_lines_are_counted(peer, root):
    """The reply says how many lines came back masked."""
    mask = b"- key [masked:password:3f]\n- [forgotten]\n- plain\n"
    await back_up(peer, notes={"memory/2026-02-13.md": mask})
    done = await restore(await peer("new"), root)
    assert (done.masked_lines, done.forgotten_lines) == (2, 1)


async def test_a_differing_local_file_stops_everything_before_the_first_write(peer, root):
    """The list names the file, and nothing at all is written."""
    await back_up(peer)
    (root / "memory").mkdir()
    (root / "memory/2026-02-13.md").write_text("My own words\n")
    new = await peer("new")
    with pytest.raises(MemorydError, match="2026-02-13") as caught:
        await plan_restore(new.sync, root)
    assert caught.value.exit_code == 1
    assert await new.rows("SELECT count(*) FROM chunks") == [(0,)]
    assert files(root) == {"memory/2026-02-13.md": b"My own words\n"}


async def test_merge_writes_what_is_missing_and_keeps_both_versions(peer, root):
    """The local file stays, the cloud's copy lies under memory/.restored, and nobody is succeeded."""
    await back_up(peer)
    (root / "memory").mkdir()
    (root / "memory/2026-02-13.md").write_text("My own words\n")
    done = await restore(await peer("new"), root, merge=True)
    found = files(root)
    assert found.pop("memory/2026-02-13.md") == b"My own words\n"
    (copy,) = [path for path in found if path.startswith("memory/.restored/")]
    assert copy.endswith("/memory/2026-02-13.md")
    assert found.pop(copy) == NOTES["memory/2026-02-13.md"]
    assert found == {path: data for path, data in NOTES.items() if path != "memory/2026-02-13.md"}
    assert (done.succeeded, done.differing) == (False, ["memory/2026-02-13.md"])


async def test_merging_again_puts_no_second_copy_aside(peer, root):
    """Not of the same bytes; a new version in the cloud is put beside the older copy."""
    old = await back_up(peer)
    (root / "memory").mkdir()
    (root / "memory/2026-02-13.md").write_text("My own words\n")
    new = await peer("new")
    await restore(new, root, merge=True)
    first = files(root)
    new.clock.advance(60)

    await restore(new, root, merge=True)

    assert files(root) == first
    await old.note("memory/2026-02-13.md", "Another version\n")
    await old.sync.exchange()
    await restore(new, root, merge=True)
    assert list(files(root).keys() - first.keys()) == [
        path for path, data in files(root).items() if data == b"Another version\n"
    ]


async def test_a_restore_that_was_cut_off_goes_on(peer, root):
    """A second run writes only what is missing and removes the first one's temporary file."""
    await back_up(peer)
    new = await peer("new")
    plan = await plan_restore(new.sync, root)
    (root / "memory").mkdir()
    (root / "MEMORY.md").write_bytes(NOTES["MEMORY.md"])
    (root / "memory/.memoryd-restore-0badcafe").write_bytes(b"half")
    again = await plan_restore(new.sync, root)
    assert [note.path for note in again.same] == ["MEMORY.md"]
    assert len(plan.missing) == len(again.missing) + 1
    done = await restore(new, root)
    assert files(root) == NOTES
    assert done.verified


async def test_text_that_an_earlier_pull_passed_over_is_fetched(peer, root):
    """A device that has shared the memory for long still gets the notes' bytes."""
    await back_up(peer)
    new = await peer("new")
    await new.sync.exchange()
    assert (await restore(new, root)).verified
    assert files(root) == NOTES


async def test_several_living_devices_are_listed_and_one_must_be_named(peer, root):
    """Without --from nothing is guessed; a name or an id decides; --copy succeeds nobody."""
    one = await back_up(peer, "one", {"memory/2026-02-01.md": b"- one\n"})
    await back_up(peer, "two", {"memory/2026-02-02.md": b"- two\n"})
    three = await peer("three")
    with pytest.raises(UsageError) as caught:
        await plan_restore(three.sync, root)
    assert "--from" in caught.value.hint
    assert await one.device() in caught.value.hint
    assert (await plan_restore(three.sync, root, from_=await one.device())).device == await one.device()
    done = await restore(three, root, from_="one", copy=True)
    assert files(root) == {"memory/2026-02-01.md": b"- one\n"}
    assert not done.succeeded


async def test_a_succeeded_device_is_no_choice_any_more(peer, tmp_path):
    """After a second device took over, a third one restores from the second without asking."""
    await back_up(peer, "one", {"memory/2026-02-01.md": b"- one\n"})
    two, three = await peer("two"), await peer("three")
    for name in ("w2", "w3"):
        (tmp_path / name).mkdir()
    await restore(two, tmp_path / "w2")
    await two.sync.exchange()
    assert (await plan_restore(three.sync, tmp_path / "w3")).device == await two.device()
    assert (await restore(three, tmp_path / "w3")).verified
    assert files(tmp_path / "w3") == {"memory/2026-02-01.md": b"- one\n"}


async def test_an_empty_cloud_has_nothing_to_restore(peer, root):
    """That is said as an error with its own exit code."""
    with pytest.raises(NoInputError):
        await plan_restore((await peer("new")).sync, root)


async def test_a_damaged_segment_costs_only_the_notes_in_it(peer, sqld, root):
    """Restore goes past the damage, names the incomplete note, and does not call itself verified."""
    old = await back_up(peer, notes={"memory/2026-02-01.md": b"- lost\n"})
    await take_in(old, "memory/2026-02-02.md", b"- kept\n")
    await old.sync.exchange()
    sqld.query("UPDATE segments SET payload = zeroblob(9) WHERE idx = 1")
    done = await restore(await peer("new"), root, from_=await old.device())
    assert files(root) == {"memory/2026-02-02.md": b"- kept\n"}
    assert not done.verified


async def test_links_in_the_workspace_are_never_followed(peer, tmp_path, root):
    """A linked folder or file in a note's place stops the restore, and nothing is written through it."""
    await back_up(peer, notes={"memory/2026-02-13.md": b"- heron\n"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "memory").symlink_to(outside)
    with pytest.raises(MemorydError, match="2026-02-13"):
        await plan_restore((await peer("new")).sync, root)
    (root / "memory").unlink()
    (root / "memory").mkdir()
    (root / "memory/2026-02-13.md").symlink_to(outside / "target.md")
    with pytest.raises(MemorydError, match="2026-02-13"):
        await plan_restore((await peer("newer")).sync, root)
    assert list(outside.iterdir()) == []


async def test_a_path_that_leads_out_of_the_workspace_is_refused(peer, root):
    """A log that names such a path loses only that note."""
    bad = "../outside.md"
    await back_up(peer, notes={bad: b"- evil\n", "memory/2026-02-13.md": b"- good\n"})
    done = await restore(await peer("new"), root)
    assert files(root.parent / "workspace") == {"memory/2026-02-13.md": b"- good\n"}
    assert not (root.parent / "outside.md").exists()
    assert list(done.incomplete) == [bad]


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("MEMORY.md", True), ("memory/2026-02-13.md", True), ("memory/robin/日记.md", True),
        ("memory/aliases.txt", True),
        ("memory/custom_dict.txt", True), ("memory/other.txt", False), ("/etc/x.md", False), ("../x.md", False),
        ("memory/../../x.md", False), ("memory/./x.md", False), ("memory//x.md", False), (".git/x.md", False),
        ("memory/.restored/x.md", False), ("memory/.x.md", False), ("a\\..\\x.md", False), ("x\n.md", False),
        ("x\0.md", False), ("memory/2026.md/", False), ("", False), (f"{'x' * 300}.md", False), ("\ud800.md", False),
    ],
)  # fmt: skip
def test_only_notes_inside_the_workspace_may_be_written(path, safe):
    """No parent, no hidden part, no control character, no endless name."""
    assert is_safe(path) is safe


def test_reading_a_file_is_no_change_of_it(root):
    """Its stat is told although the reading moves the time of access; other bytes or no file tell nothing."""
    file = root / "2026-02-13.md"
    file.write_bytes(b"- The heron fishes\n")
    os.utime(file, ns=(1, file.stat().st_mtime_ns))

    found = stamp(root, file.name, b"- The heron fishes\n")

    assert found is not None
    assert (found.st_size, found.st_mtime_ns) == (file.stat().st_size, file.stat().st_mtime_ns)
    assert file.stat().st_atime_ns > 1
    assert stamp(root, file.name, b"- The ibis\n") is None
    assert stamp(root, "none.md", b"") is None
