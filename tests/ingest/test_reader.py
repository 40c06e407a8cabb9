"""Reading one note: no link followed, no torn read believed, gone told from unreadable."""

import hashlib
import os
from pathlib import Path

import pytest
from memoryd.errors import NoteError
from memoryd.ingest.reader import UnreadableError, VanishedError, read_note


def _never(_: float) -> None:
    pytest.fail("nothing to wait for")


def _note(root: Path, data: bytes = b"- tea\n") -> Path:
    path = root / "memory" / "2026-02-10.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_file_is_read_whole_with_its_stat(tmp_path: Path) -> None:
    """Bytes, hash and stat belong to one moment."""
    path = _note(tmp_path)

    read = read_note(tmp_path, "memory/2026-02-10.md", 100, _never)

    assert (read.data, read.size, read.ino) == (b"- tea\n", 6, path.stat().st_ino)
    assert read.sha256 == hashlib.sha256(b"- tea\n").hexdigest()
    assert (read.mtime_ns, read.ctime_ns) == (path.stat().st_mtime_ns, path.stat().st_ctime_ns)


def test_a_file_over_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five (sparse) gigabytes cost nothing: only their size is known."""
    with _note(tmp_path).open("wb") as file:
        file.truncate(5_000_000_000)
    monkeypatch.setattr(os, "read", None)

    read = read_note(tmp_path, "memory/2026-02-10.md", 100_000_000, _never)

    assert (read.data, read.size, read.sha256) == (None, 5_000_000_000, "")


@pytest.mark.parametrize("path", ["memory/none.md", "nothing/2026-02-10.md", "memory/2026-02-10.md/x.md"])
def test_a_missing_file_has_vanished(tmp_path: Path, path: str) -> None:
    """Only a name that is not there counts as gone."""
    _note(tmp_path)

    with pytest.raises(VanishedError):
        read_note(tmp_path, path, 100, _never)


@pytest.mark.parametrize("make", ["link", "folder", "fifo", "linked_folder"])
def test_what_is_no_regular_file_is_unreadable(tmp_path: Path, make: str) -> None:
    """Links, folders and pipes are refused at once, also a link on the way."""
    folder = tmp_path / "memory" / "robin"
    folder.parent.mkdir()
    outside = tmp_path / "outside.md"
    outside.write_text("- secret\n")
    if make == "linked_folder":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir()
    target = folder / ("outside.md" if make == "linked_folder" else "2026-02-10.md")
    if make == "link":
        target.symlink_to(outside)
    elif make == "folder":
        target.mkdir()
    elif make == "fifo":
        os.mkfifo(target)

    with pytest.raises(NoteError) as caught:
        read_note(tmp_path, f"memory/robin/{target.name}", 100, _never)

    assert isinstance(caught.value, UnreadableError)
    assert caught.value.path == f"memory/robin/{target.name}"


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A torn read waits and tries again; the second, quiet one counts."""
    path = _note(tmp_path)
    true_read, waits = os.read, []

    def read_and_change(fd: int, count: int) -> bytes:
        piece = true_read(fd, count)
        if not waits and piece:
            path.write_bytes(b"- coffee and cake\n")
        return piece

    monkeypatch.setattr(os, "read", read_and_change)

    assert read_note(tmp_path, "memory/2026-02-10.md", 100, waits.append).data == b"- coffee and cake\n"
    assert waits == [0.05]


def test_a_file_that_never_stands_still_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three waits the read is given up for now."""
    path = _note(tmp_path)
    true_read, waits = os.read, []

    def read_and_grow(fd: int, count: int) -> bytes:
        piece = true_read(fd, count)
        if not piece:
            with path.open("ab") as file:
                file.write(b"- more\n")
        return piece

    monkeypatch.setattr(os, "read", read_and_grow)

    with pytest.raises(UnreadableError):
        read_note(tmp_path, "memory/2026-02-10.md", 1000, waits.append)
    assert waits == [0.05, 0.2, 1.0]
