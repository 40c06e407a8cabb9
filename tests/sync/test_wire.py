"""The wire form: what is written now must be readable for ever."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memoryd.errors import CloudStoppedError
from memoryd.model import (
    AccessRow,
    ChunkRow,
    DeviceRow,
    EditRow,
    FactRow,
    ForgottenRow,
    HotItemRow,
    MentionRow,
    Metadata,
    NoteRow,
    TreeNodeRow,
)
from memoryd.sync.wire import Segment, SegmentError, chain_hash, check_cloud, cloud_value, encode_rows, pack, unpack

VERSION = "1770976800000-000001-d1d1d1d1"
ROWS = [
    FactRow("default", "9c00000000000000", "The heron fishes 今天", 1_770_976_800_000),
    ChunkRow.of("aa", b"- The heron\r\n\0"),
    ChunkRow.of("bb", b"caf\xe9"),
    MentionRow(
        "default", "d1", "memory/x.md", 0, "9c", 1, 2, "2026-02-13", ["A"], "b", 0.5, "fact", "", Metadata(urls=["u"])
    ),
    NoteRow("default", "d1", "memory/x.md", 13, ["aa", "bb"], 1, "ok", 5, None),
    EditRow("default", "9c", "pin", None, VERSION),
    ForgottenRow("default", "9d", VERSION, "", ""),
    AccessRow("default", "9c", "d1", 2, 20_497),
    HotItemRow("default", "projects", "p", "{}", VERSION, deleted=True),
    TreeNodeRow("default", "birds", "All", VERSION),
    DeviceRow("d1", "host", "linux", 5, ["*.md"], ["d0"]),
]


def segment(rows, device="d1", prev="", **changes):
    """A sound segment of `rows`."""
    payload = changes.pop("payload", None) or pack(encode_rows(rows))
    return Segment(device, 1, prev, changes.pop("sha256", chain_hash(prev, payload)), payload, len(rows))


def test_every_kind_of_row_comes_back():
    """Rows survive the way through a segment, in their order."""
    assert unpack(segment(ROWS)) == ROWS


def test_the_first_form_stays_readable():
    """These bytes stand for what the first version wrote; the test fails if a later one cannot read them."""
    lines = (
        b'["fact","default","9c","The heron",5]\n["chunk","aa","text",null]\n["chunk","bb",null,"Y2Fm6Q=="]\n'
        b'["mention","default","d1","memory/x.md",0,"9c",1,2,"",[],"b",0.5,"fact","",{},""]\n'
        b'["note","default","d1","memory/x.md",3,["aa"],1,"ok",5,null]\n["edit","default","9c","pin","1","%s"]\n'
        b'["forgotten","default","9c","%s","",""]\n["access","default","9c","d1",1,20497]\n'
        b'["hot_item","default","projects","p","{}","%s",false]\n["tree_node","default","birds","All","%s",false]\n'
        b'["device","d1","host","linux",5,[],[]]\n'
    ).replace(b"%s", VERSION.encode())
    rows = unpack(segment([], payload=zlib.compress(lines)))
    assert [type(row) for row in rows] == [
        FactRow, ChunkRow, ChunkRow, MentionRow, NoteRow, EditRow, ForgottenRow, AccessRow, HotItemRow, TreeNodeRow,
        DeviceRow,
    ]  # fmt: skip
    assert encode_rows(rows) == lines


def test_fields_that_a_later_version_appends_are_passed_over():
    """A row may grow at its end."""
    rows = unpack(segment([], payload=zlib.compress(b'["fact","default","9c","The heron",5,"later",[1]]\n')))
    assert rows == [FactRow("default", "9c", "The heron", 5)]


@given(st.binary(max_size=200))
def test_any_bytes_make_a_chunk(data):
    """Note text that is no UTF-8 travels as base64."""
    (row,) = unpack(segment([ChunkRow.of("aa", data)]))
    assert row.data == data


@pytest.mark.parametrize(
    "broken",
    [
        segment(ROWS, sha256="0" * 64),
        segment(ROWS, payload=b"no zlib"),
        segment(ROWS, payload=pack(encode_rows(ROWS))[:-9]),
        segment(ROWS, payload=pack(b"[]\n")),
        segment(ROWS, payload=pack(b'["unknown",1]\n')),
        segment(ROWS, payload=pack(b"\xff\xfe\n")),
        segment(ROWS, payload=pack(b" " * 65_000_000)),
        segment(ROWS, device="d2"),
        segment([EditRow("default", "9c", "pin", "1", "yesterday")]),
        segment([ForgottenRow("default", "9c", VERSION, "tomorrow")]),
    ],
    ids=[
        "hash",
        "not-zlib",
        "cut-off",
        "no-row",
        "unknown-row",
        "no-utf8",
        "bomb",
        "other-device",
        "version",
        "lifted",
    ],
)
def test_what_its_device_cannot_have_written_is_damage(broken):
    """Each is named with the segment's number and raises nothing else."""
    with pytest.raises(SegmentError, match="segment 1"):
        unpack(broken)


def test_the_chain_hash_covers_payload_and_predecessor():
    """Another payload or another place in the chain is another hash."""
    assert len({chain_hash("", b"a"), chain_hash("", b"b"), chain_hash("00", b"a")}) == 3


@pytest.mark.parametrize(
    ("value", "known", "said"),
    [
        ("c1/2/plain", "", "wire version 2"),
        ("c1/1/k7", "", "encrypted"),
        ("c2/1/plain", "c1/1/plain", "not the one"),
        ("", "c1/1/plain", "not the one"),
    ],
)
def test_a_cloud_that_is_not_ours_to_read_is_refused(value, known, said):
    """Another wire, another key, another cloud, an emptied one."""
    with pytest.raises(CloudStoppedError, match=said):
        check_cloud(value, known)


def test_a_new_cloud_is_one_that_we_can_read():
    """What we write into `meta` we accept."""
    check_cloud(cloud_value("c1"), "")
    check_cloud(cloud_value("c1"), cloud_value("c1"))
