"""The documentation says what the code does: every command, exit code, setting and example."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import msgspec
import pytest
from memoryd.cli.main import program
from memoryd.config import Settings
from memoryd.errors import every_error

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMON = {"workspace", "instance", "json", "db_url", "auth_token", "agent_id"}

GROUP = program()
CONTEXT = click.Context(GROUP, info_name="memoryd")
COMMANDS = {name: GROUP.get_command(CONTEXT, name) for name in GROUP.list_commands(CONTEXT)}


def section(page: str, title: str) -> str:
    """What stands below the heading `## title`."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert found, f"there is no section {title}"
    return found[1]


def examples(page: Path) -> list[str]:
    """The commands of a page's `console` blocks, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_with_its_flags(name):
    """docs/cli.md has a section for the command, with its help and every flag of its own."""
    text = section((ROOT / "docs/cli.md").read_text("utf-8"), name)

    assert COMMANDS[name].help in text
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option) and option.name not in COMMON:
            flags = " or ".join(f"`{flag}`" for flag in option.opts)
            assert f"| {flags} | {option.help}" in text


def test_no_command_is_documented_that_does_not_exist():
    """Each section of docs/cli.md names a command."""
    titles = re.findall(r"^## (.+)$", (ROOT / "docs/cli.md").read_text("utf-8"), re.MULTILINE)

    assert sorted(set(titles) - {"Common flags"}) == sorted(COMMANDS)


def test_the_readme_lists_exactly_the_exit_codes_of_the_errors():
    """The README's table has 0 and one row for each code of the error tree."""
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", README, re.MULTILINE)

    assert [int(code) for code, _ in rows] == sorted({0, *(error.exit_code for error in every_error())})


def test_the_documented_configuration_is_every_setting_with_its_default():
    """The example in docs/configuration.md is what `Settings()` holds, key by key."""
    page = (ROOT / "docs/configuration.md").read_text("utf-8")
    example = re.search(r"^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)

    assert tomllib.loads(example[1]) == msgspec.to_builtins(Settings())


def test_every_warning_and_every_file_of_the_state_folder_is_documented():
    """The troubleshooting page names each code that status warns with, and what lies in the state folder."""
    page = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
    codes = set(re.findall(r"\bProblem\(\s*\"(\w+)\"", (ROOT / "operations/problems.py").read_text("utf-8")))
    watcher = ast.parse((ROOT / "daemon/watcher.py").read_text("utf-8"))
    codes |= {
        node.elts[0].value
        for node in ast.walk(watcher)
        if isinstance(node, ast.Tuple) and isinstance(node.elts[0], ast.Constant) and len(node.elts) in (2, 3)
        and re.fullmatch(r"watcher\w*", str(node.elts[0].value))
    }  # fmt: skip
    files = {
        name
        for room in ("operations", "daemon", "sync")
        for file in (ROOT / room).glob("*.py")
        for name in re.findall(r"\bstate / \"([^\"]+)\"", file.read_text("utf-8"))
    }

    assert {"language", "rebuilt", "watcher_mount", "plain_logs"} <= codes
    assert {"reading", "language", "snapshots", "damaged.json", "last-error.json"} <= files
    assert {name for name in codes | files if not re.search(rf"`{re.escape(name)}/?`", page)} == set()


def test_the_readme_names_tests_that_exist():
    """Each promise names a test function of this repository."""
    named = set(re.findall(r"`(test_\w+)`", README))
    functions = {
        node.name
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert len(named) >= 7
    assert named <= functions


def test_links_between_pages_lead_somewhere():
    """Every relative link in the documentation names an existing file."""
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_the_examples_of_the_documentation_run(page, short_path):
    """Every command of a `console` block succeeds on the example workspace."""
    workspace = short_path / "workspace"
    shutil.copytree(ROOT / "examples/workspace", workspace)
    folders = {
        name: str(short_path / name.lower())
        for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
    }
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", **folders}

    for example in examples(page):
        done = subprocess.run(
            example, shell=True, cwd=workspace, env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, f"{example}\n{done.stderr}"
        assert done.stdout
        assert not done.stderr


def test_the_code_cites_only_pages_that_exist():
    """A page named in the source is there, and no comment leans on a paper that is not in the repository."""
    for file in sorted(path for folder in ROOT.iterdir() if folder.name[0] != "." for path in (folder.rglob("*.py"))):
        text = file.read_text("utf-8")
        pages = [] if "tests" in file.parts else re.findall(r"\bdocs/\w+\.md", text)  # tests invent notes of that name
        for page in pages:
            assert (ROOT / page).exists(), f"{file.relative_to(ROOT)} cites {page}"
        assert not re.search(
            r"\b(?:SPEC|DATA|FACTS|COMPAT|SHAPES|BEHAVIOUR|PROBLEMS|DESIGN) (?:sections? )?\d", text
        ), file
