"""A crash at any commit or rename, and what the next start makes of it."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from memoryd.crash import CRASHED, POINTS
from memoryd.store.adapter import Database
from memoryd.store.migrations import MIGRATIONS

LIFE = Path(__file__).with_name("life.py")
spec = importlib.util.spec_from_file_location("life", LIFE)
life = importlib.util.module_from_spec(spec)
spec.loader.exec_module(life)
LATER = len(MIGRATIONS) + 1
ROOT = Path(__file__).resolve().parents[2]

NOTES = [
    "reading written down", "note written", "note committed:3", "note deleted", "files forgotten",
    "settle written", "settle committed:2", "tiers moved:3", "page temporary", "page linked", "page exchanged",
    "page written:2", "page read back",
    "fact stored", "fact forgotten", "notes masked", "device file", "snapshot checked",
]  # fmt: skip
CLOUD = ["receipt stored", "segment sent", "segment sent:2", "segment confirmed", "drawing sent", "picture drawn"]
FOLD = ["segment folded", "new id"]
RESTORE = ["restore file:3", "restore written", "restore copied", "restore ingested", "restore succeeded"]
UPGRADE = [
    "old schema copied", *(f"migration statement:{n + 1}" for n in range(len(life.STATEMENTS))), "migrated",
]  # fmt: skip
DREAM = ["dream step"]
DAMAGE = ["damage marked", "moved aside", "snapshot placed", "rebuilt"]


def live(story: str, root: Path, *cloud: str, crash_at: str = "") -> int:
    """Live a story in a process of its own; its exit code."""
    environment = {**os.environ, "MEMORYD_CRASH_AT": crash_at}
    root.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, LIFE, story, root, *cloud], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode in (0, CRASHED), done.stderr
    return done.returncode


def told(story: str, root: Path) -> str:
    """Live a story to its end, and give back what it said."""
    done = subprocess.run([sys.executable, LIFE, story, root], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stderr


def rows_of(database: Path, sql: str) -> list:
    with closing(Database(database)) as db:
        return db.execute(sql)


def version_of(database: Path) -> int:
    return rows_of(database, "PRAGMA user_version")[0][0]


def crash_and_go_on(story: str, root: Path, *cloud: str, point: str) -> None:
    """Live a story up to a crash, then as if nothing had been."""
    assert live(story, root, *cloud, crash_at=point) == CRASHED, f"{point} is never passed in this story"
    assert live(story, root, *cloud) == 0


def held(root: Path) -> dict:
    """What the memory holds and which files stand there."""
    return life.held(root)


def differing(found: dict, wanted: dict) -> dict:
    return {
        name: ([row for row in rows if row not in wanted[name]], [row for row in wanted[name] if row not in rows])
        for name, rows in found.items()
        if rows != wanted[name]
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict:
    """What the notes' story leaves when nothing crashes."""
    root = tmp_path_factory.mktemp("undisturbed") / "life"
    assert live("notes", root) == 0
    return held(root)


def test_every_point_is_one_of_the_program_and_of_a_test():
    """The list of points, the calls in the source and the points that are tested are the same."""
    files = [path for path in ROOT.rglob("*.py") if not {".venv", "tests", "build", ".links"} & set(path.parts)]
    called = {name for path in files for name in re.findall(r'crash_point\("([^"]+)"\)', path.read_text("utf-8"))}

    assert called == set(POINTS)
    assert {each.partition(":")[0] for each in (*NOTES, *CLOUD, *FOLD, *RESTORE, *UPGRADE, *DREAM, *DAMAGE)} == set(
        POINTS
    )


@pytest.mark.parametrize("point", NOTES)
def test_a_crash_while_notes_are_taken_in_leaves_no_trace(tmp_path, undisturbed, point):
    """Whatever was being written, the next start comes to the same rows, index, pages and notes."""
    crash_and_go_on("notes", tmp_path / "life", point=point)

    found = held(tmp_path / "life")
    rescued = found.pop("rescued")
    assert differing(found, undisturbed) == {}
    # Between exchange and check the person's page exists only under the temporary name: it is kept.
    assert ["Merlin" in each for each in rescued] == [True] * (point == "page exchanged")


@pytest.mark.parametrize("point", CLOUD)
def test_a_crash_in_a_push_neither_loses_nor_doubles(tmp_path, sqld, point):
    """The log goes on where the cloud really stands, and another machine restores all of it (SY-1)."""
    cloud = sqld.url, sqld.token()
    crash_and_go_on("notes", tmp_path / "life", *cloud, point=point)
    assert live("restore", tmp_path / "two", *cloud) == 0

    one, two = held(tmp_path / "life"), held(tmp_path / "two")
    assert [path for path, _ in one["files"]] == [path for path, _ in two["files"]]
    assert differing({"facts": _ids(two)}, {"facts": _ids(one)}) == {}
    assert sqld.query("SELECT count(*) - count(DISTINCT text) FROM cold_memories") == [["0"]]


@pytest.mark.parametrize("point", FOLD)
def test_a_crash_while_another_log_is_folded_is_made_up(tmp_path, sqld, point):
    """The second machine ends with the first one's facts and its own, also when it took a new id meanwhile."""
    cloud = sqld.url, sqld.token()
    assert live("notes", tmp_path / "one", *cloud) == 0

    crash_and_go_on("fold", tmp_path / "two", *cloud, point=point)

    two = held(tmp_path / "two")
    assert two["faults"] == []
    assert {text for _, _, text in _texts(held(tmp_path / "one"))} < {text for _, _, text in _texts(two)}
    assert "The vole digs" in {text for _, _, text in _texts(two)}


@pytest.mark.parametrize("point", RESTORE)
def test_a_restore_that_was_cut_off_is_run_again_and_goes_on(tmp_path, sqld, point):
    """The second run writes what is missing and ends verified, as if there had been one."""
    cloud = sqld.url, sqld.token()
    assert live("notes", tmp_path / "one", *cloud) == 0

    assert live("restore", tmp_path / "two", *cloud, crash_at=point) == CRASHED
    if point == "restore succeeded":
        assert live("fold", tmp_path / "two", *cloud) == 0  # nothing is left to be restored
    else:
        assert live("restore", tmp_path / "two", *cloud) == 0

    one, two = held(tmp_path / "one"), held(tmp_path / "two")
    assert {path for path, _ in one["files"]} <= {path for path, _ in two["files"]}
    assert set(map(tuple, _ids(one))) <= set(map(tuple, _ids(two)))
    assert two["faults"] == []


def test_an_upgrade_that_is_cut_off_at_any_statement_goes_on(tmp_path, undisturbed):
    """The file as it was is kept, nothing is lost, and the next start ends with the new schema (ST-3)."""
    root, old = tmp_path / "life", tmp_path / "old"
    assert live("notes", root) == 0
    before = held(root)
    root.rename(old)
    for point in UPGRADE:
        shutil.copytree(old, root)

        assert live("upgrade", root, crash_at=point) == CRASHED, f"{point} is never passed"
        done = version_of(root / "state/memory.db") == LATER
        assert done == (point == "migrated")
        assert held(root) == before
        said = told("upgrade", root)

        assert version_of(root / "state/memory.db") == LATER
        assert differing(held(root), undisturbed) == {}
        kept = root / f"state/memory.db.before-{LATER}"
        assert version_of(kept) == LATER - 1
        assert len(rows_of(kept, "SELECT * FROM facts")) == len(rows_of(root / "state/memory.db", "SELECT * FROM more"))
        assert done or f"{len(rows_of(kept, 'SELECT * FROM facts'))} facts" in said
        shutil.rmtree(root)


@pytest.mark.parametrize("point", DREAM)
def test_a_dream_that_was_cut_off_is_dreamt_to_its_end(tmp_path, point):
    """What was joined before stays joined, the rest follows, and each join stands once in the log of dreams."""
    assert live("dream", tmp_path / "undisturbed") == 0
    crash_and_go_on("dream", tmp_path / "life", point=point)

    joined = "SELECT fact_id, value FROM edits WHERE field = 'merged_into' ORDER BY 1"
    steps = "SELECT fact_id, step FROM dream_log ORDER BY 1"
    for sql in (joined, steps):
        found, wanted = (rows_of(tmp_path / name / "state/memory.db", sql) for name in ("life", "undisturbed"))
        assert found == wanted
        assert len(found) == 2
    assert differing(held(tmp_path / "life"), held(tmp_path / "undisturbed")) == {}


@pytest.mark.parametrize("point", DAMAGE)
def test_a_crash_while_a_damaged_database_is_replaced_loses_nothing_more(tmp_path, undisturbed, point):
    """The damaged file is kept once, and the snapshot takes its place whatever happened between."""
    root = tmp_path / "life"
    assert live("notes", root) == 0
    assert live("spoil", root) == 0

    crash_and_go_on("damage", root, point=point)

    assert differing(held(root), undisturbed) == {}
    assert len([path for path in (root / "state").glob("memory.db.corrupt-*") if "-wal" not in path.name]) == 1
    assert not (root / "state" / "damaged.json").exists()
    shutil.rmtree(root)


def _texts(found: dict) -> list[tuple[str, str, str]]:
    return [(agent, fact, text) for agent, fact, text, *_ in found["live facts"]]


def _ids(found: dict) -> list[list[str]]:
    return sorted([agent, fact] for agent, fact, *_ in found["live facts"])
