"""What is installed on a user's machine."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("cli", "daemon", "operations", "ingest", "tiers", "search", "sync", "store")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The files inside a wheel that pip would build from this folder."""
    source, out = tmp_path_factory.mktemp("source") / "memoryd", tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".?*", "__pycache__", "*.egg-info", "build", "dist"))
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", out, source]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    with zipfile.ZipFile(next(out.glob("*.whl"))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    """Every module and data file is in, and no test, example or tool is."""
    modules = [*ROOT.glob("*.py"), *(file for room in ROOMS for file in (ROOT / room).glob("*.py"))]
    data = [
        ROOT / "py.typed",
        *ROOT.glob("store/*.sql"),
        *ROOT.glob("systemd/*.service"),
        *ROOT.glob("launchd/*.plist"),
    ]
    expected = {f"memoryd/{file.relative_to(ROOT)}" for file in [*modules, *data]}

    found = {name for name in wheel if ".dist-info/" not in name}

    assert found == expected
    assert {"memoryd/systemd/memoryd.service", "memoryd/py.typed", "memoryd/store/001_rows.sql"} <= found
    assert any(name.startswith("memoryd/launchd/") for name in found)


def test_the_wheel_installs_one_command_and_names_its_licence(wheel):
    """The console script is memoryd.cli.main:main; the licence text travels along."""
    info = {name.split(".dist-info/")[1]: data.decode() for name, data in wheel.items() if ".dist-info/" in name}

    assert "memoryd = memoryd.cli.main:main" in info["entry_points.txt"]
    assert "License-Expression: MIT" in info["METADATA"]
    assert "Requires-Python: <3.14,>=3.11" in info["METADATA"]
    assert any("MIT License" in text for name, text in info.items() if name.startswith("licenses/"))
