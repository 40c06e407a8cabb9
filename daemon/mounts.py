"""Which file systems do not report changes that others make: network mounts and the Windows side of WSL."""

import os
from pathlib import Path

_SILENT = {
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
    "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs",
    "vmhgfs",
}  # fmt: skip
_MOUNTS = Path("/proc/self/mountinfo")


def silent_mount(folder: Path, mounts: Path = _MOUNTS) -> str:
    """The type of the file system that holds `folder` if changes that others make there go unheard, else ''.

    Where mounts cannot be listed (macOS), '' too: FSEvents reports for itself.
    """
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    kinds = dict(kind_of_mount(line) for line in lines)
    real = os.path.realpath(folder)
    above = [point for point in kinds if real == point or real.startswith(point.rstrip("/") + "/")]
    kind = kinds[max(above, key=len)] if above else ""
    return kind if kind in _SILENT else ""


def kind_of_mount(line: str) -> tuple[str, str]:
    """Mount point and file system type of one line of mountinfo (proc(5)); later lines hide earlier ones."""
    fields, _, rest = line.partition(" - ")
    point = fields.split(" ")[4]
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, sign)
    return point, rest.split(" ", 1)[0]
