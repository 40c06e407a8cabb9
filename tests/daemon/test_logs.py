"""Where the log goes."""

import logging
import logging.handlers

import pytest
from memoryd.daemon.logs import FILE_BYTES, set_up_logging


@pytest.fixture
def root():
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    root.handlers.clear()
    yield root
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)


def test_the_journal_gets_lines_without_a_time_of_their_own(root, capsys):
    """Under a service manager the journal knows the time; in a terminal the line says it."""
    set_up_logging("default", {"JOURNAL_STREAM": "8:1"}, "linux")
    logging.getLogger("memoryd.daemon").info("ready")
    assert capsys.readouterr().err == "INFO ready\n"

    root.handlers.clear()
    set_up_logging("default", {}, "linux")
    logging.getLogger("memoryd.daemon").warning("odd")
    assert capsys.readouterr().err.endswith(" WARNING odd\n")


def test_macos_gets_a_small_rotating_file(root, tmp_path, monkeypatch):
    """There is no journal on macOS: 3 files of 5 MB, one name an instance, for this user alone."""
    monkeypatch.setenv("HOME", str(tmp_path))
    set_up_logging("work", {}, "darwin")
    logging.getLogger("memoryd.daemon").info("ready")
    (handler,) = [each for each in root.handlers if isinstance(each, logging.handlers.RotatingFileHandler)]
    assert (handler.maxBytes, handler.backupCount) == (FILE_BYTES, 2)
    file = tmp_path / "Library/Logs/memoryd/work.log"
    assert file.read_text().endswith("INFO ready\n")
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_libraries_do_not_write_addresses_into_the_log(root, capsys):
    """The HTTP client would log every address at INFO."""
    set_up_logging("default", {"JOURNAL_STREAM": "8:1"}, "linux")
    for name in ("httpx", "httpcore.connection", "uvicorn.error"):
        logging.getLogger(name).info("POST https://user:pw@host/")
    assert capsys.readouterr().err == ""
