"""The process that looks at the file."""

from memoryd.clock import ManualClock
from memoryd.store import Store, upkeep


def test_files_of_the_folder_that_the_daemon_was_started_in_are_no_modules(tmp_path, monkeypatch):
    """A person's `secrets.py` or `json.py` is neither run nor in the way."""
    Store.open(tmp_path / "memory.db", ManualClock()).close()
    for name in ("secrets", "json", "random", "selectors"):
        (tmp_path / f"{name}.py").write_text("open('was-run', 'w').close()\nraise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)

    assert upkeep.check(tmp_path / "memory.db") == ""
    assert not (tmp_path / "was-run").exists()
