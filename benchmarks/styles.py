"""How editors save a file: each style puts `text` into the note at `path` (docs/engine.md, WA-14, WA-15)."""

from collections.abc import Callable
from pathlib import Path

Style = Callable[[Path, str], None]


def append(path: Path, text: str) -> None:
    """Add what is new at the end, in two writes; what does not continue the file is written anew."""
    old = path.read_text("utf-8") if path.exists() else ""
    if not text.startswith(old):
        truncate_and_write(path, text)
        return
    new = text[len(old) :]
    with path.open("a", encoding="utf-8") as file:
        file.write(new[: len(new) // 2])
        file.flush()
        file.write(new[len(new) // 2 :])


def truncate_and_write(path: Path, text: str) -> None:
    """Open with O_TRUNC and write everything."""
    path.write_text(text, "utf-8")


def rename_over(path: Path, text: str) -> None:
    """Write a hidden file beside the note and rename it over."""
    temporary = path.with_name(f".{path.name}.swp")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


def rename_from_outside(path: Path, text: str) -> None:
    """Write the new note outside of the workspace and move it in."""
    outside = path.parents[2] / f"outside-{path.name}"
    outside.write_text(text, "utf-8")
    outside.replace(path)


def vim_backup(path: Path, text: str) -> None:
    """Move the note away, write it anew, remove the backup."""
    backup = path.with_name(f"{path.name}~")
    if path.exists():
        path.rename(backup)
    path.write_text(text, "utf-8")
    backup.unlink(missing_ok=True)


STYLES: dict[str, Style] = {
    each.__name__: each for each in (append, truncate_and_write, rename_over, rename_from_outside, vim_backup)
}
