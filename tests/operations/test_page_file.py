"""Pages are replaced without losing what a person saves at the same moment."""

import errno

import pytest
from memoryd.operations import page_file
from memoryd.operations.page_file import rewrite_page


@pytest.fixture(params=["exchange", "rename"])
def page(request, tmp_path, monkeypatch):
    """A page on a file system that can exchange files, and on one that cannot."""
    if request.param == "rename":
        monkeypatch.setattr(page_file, "_exchange", lambda *_: False)
    path = tmp_path / "MEMORY.md"
    path.write_bytes(b"mine\n")
    return path


def test_a_page_is_rewritten_and_nothing_else_is_left(page):
    """The new bytes stand there, with the old mode, and no temporary file."""
    page.chmod(0o640)

    assert rewrite_page(page, lambda old: old + b"block\n")
    assert page.read_bytes() == b"mine\nblock\n"
    assert page.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in page.parent.iterdir()] == ["MEMORY.md"]


def test_a_save_between_look_and_exchange_wins(page):
    """What a person saved meanwhile is merged, not overwritten."""
    seen = []

    def change(old):
        seen.append(old)
        if len(seen) == 1:
            page.write_bytes(b"saved meanwhile\n")
        return old + b"block\n"

    assert rewrite_page(page, change)
    assert seen == [b"mine\n", b"saved meanwhile\n"]
    assert page.read_bytes() == b"saved meanwhile\nblock\n"


def test_a_page_saved_at_every_look_is_left_to_the_person(page):
    """Somebody who saves faster than we look keeps what they wrote."""
    count = iter(range(100))

    def change(old):
        page.write_bytes(b"version %d\n" % next(count))
        return b"ours"

    assert not rewrite_page(page, change)
    assert page.read_bytes().startswith(b"version ")


def test_no_change_writes_nothing(page):
    """The same bytes, or None, leave file and time stamps alone."""
    before = page.stat()

    assert not rewrite_page(page, lambda old: old)
    assert not rewrite_page(page, lambda old: None)
    assert page.stat().st_ctime_ns == before.st_ctime_ns


def test_a_new_page_never_replaces_one_that_appeared(tmp_path):
    """Creating is linking: a page that a person made meanwhile stays and is merged."""
    page = tmp_path / "MEMORY.md"

    def change(old):
        if old is None:
            page.write_bytes(b"appeared\n")
        return (old or b"") + b"block\n"

    assert rewrite_page(page, change)
    assert page.read_bytes() == b"appeared\nblock\n"


def test_a_linked_page_is_not_written_through(tmp_path):
    """A page that is a link belongs to somebody else."""
    other = tmp_path / "other.md"
    other.write_bytes(b"theirs\n")
    (tmp_path / "MEMORY.md").symlink_to(other)

    assert not rewrite_page(tmp_path / "MEMORY.md", lambda old: b"ours")
    assert other.read_bytes() == b"theirs\n"


def test_what_a_crash_left_is_kept(page):
    """A temporary file may hold a person's page that had just come out: it is renamed, not overwritten."""
    (page.parent / ".MEMORY.md.memoryd").write_bytes(b"perhaps a person's\n")

    assert rewrite_page(page, lambda old: old + b"block\n")
    rescued = [each for each in page.parent.iterdir() if "rescued" in each.name]
    assert [each.read_bytes() for each in rescued] == [b"perhaps a person's\n"]


def test_an_exchange_that_the_system_forbids_is_an_error(page, monkeypatch):
    """EACCES is no reason to fall back to a blind rename."""

    class Libc:
        @staticmethod
        def renameat2(*_):
            return -1

        renamex_np = renameat2

    monkeypatch.undo()
    monkeypatch.setattr(page_file.ctypes, "CDLL", lambda *_, **__: Libc)
    monkeypatch.setattr(page_file.ctypes, "get_errno", lambda: errno.EACCES)
    with pytest.raises(PermissionError):
        rewrite_page(page, lambda old: b"ours")
    assert page.read_bytes() == b"mine\n"


def test_a_full_disk_leaves_the_page_and_no_rubbish(page, monkeypatch):
    """However often it is tried: the page stands as it was, nothing lies beside it, and later it is written."""

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(page_file.os, "fsync", full)
        for _ in range(3):
            with pytest.raises(OSError, match="No space left"):
                rewrite_page(page, lambda old: b"ours\n")

    assert page.read_bytes() == b"mine\n"
    assert [each.name for each in page.parent.iterdir()] == ["MEMORY.md"]
    assert rewrite_page(page, lambda old: b"ours\n")
