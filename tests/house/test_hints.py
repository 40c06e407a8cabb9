"""What a message tells people to run can be run."""

import ast
import re
from pathlib import Path

import click
import memoryd
from memoryd.cli.main import program

ROOT = Path(memoryd.__file__).parent
TOLD = re.compile(r"(?:[Rr]un:?|with:?|or|again:|it:|running:?|:) memoryd ([a-z][a-z-]+)")
ROOMS = ("cli", "daemon", "operations", "sync", "tiers", "search", "ingest", "store")


def texts():
    """Every text constant of the package, with its file."""
    for room in ROOMS:
        for path in (ROOT / room).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield path.name, node.value


def test_every_command_that_a_message_names_exists():
    """No hint sends a person to a command that memoryd does not have."""
    named = [(file, name) for file, text in texts() for name in TOLD.findall(text)]
    known = set(program().list_commands(click.Context(program())))

    assert len(named) > 20
    assert [each for each in named if each[1] not in known] == []
