"""Which mounts are polled because nobody reports changes there."""

import pytest
from memoryd.daemon.mounts import silent_mount

MOUNTINFO = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 21 0:40 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync
31 21 0:41 / /home/me/my\\040vault rw - cifs //nas/vault rw
32 31 0:42 / /home/me/my\\040vault/local rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/home/me/notes", ""),
        ("/mnt/c", "9p"),
        ("/mnt/c/Users/me/notes", "9p"),
        ("/mnt/cd/notes", ""),
        ("/home/me/my vault/notes", "cifs"),
        ("/home/me/my vault/local/notes", ""),
    ],
)
def test_the_innermost_mount_decides(tmp_path, folder, expected):
    """Network file systems and the Windows side of WSL are known by their type."""
    (tmp_path / "mountinfo").write_text(MOUNTINFO)
    assert silent_mount(folder, tmp_path / "mountinfo") == expected


def test_without_a_list_of_mounts_nothing_is_assumed(tmp_path):
    """A system that lists no mounts is trusted to report changes."""
    assert silent_mount(tmp_path, tmp_path / "missing") == ""
