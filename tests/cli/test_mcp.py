"""`memoryd mcp`: a real session over stdio with the protocol's own client library."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client
from memoryd.cli.main import run
from memoryd.cli.mcp_tools import input_schema, offered
from memoryd.errors import UsageError
from memoryd.operations.table import OPERATIONS

MEMORYD = Path(sys.executable).with_name("memoryd")
DANGEROUS = {
    "forget", "restore", "key", "export", "import", "import-legacy", "sync", "sync-critical", "cold", "devices", "undo",
    "consolidate", "audit", "verify", "drill", "status", "ledger", "extract-metadata", "validate", "rescan", "doctor",
    "service", "init", "run", "mcp",
}  # fmt: skip


@asynccontextmanager
async def session(*flags):
    """An initialised session with a server of its own; what it says on stderr goes nowhere."""
    parameters = StdioServerParameters(command=str(MEMORYD), args=["mcp", *flags], env=dict(os.environ))
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123, ASYNC230
        async with stdio_client(parameters, errlog=nowhere) as streams, ClientSession(*streams) as client:
            await client.initialize()
            yield client


def said(result):
    """What a tool answered, as JSON."""
    return json.loads(result.content[0].text)


async def test_a_session_lists_tools_stores_and_finds(capfd):
    """Initialise, list, store, retrieve; without a daemon it works in the server's own process."""
    async with session() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        stored = await client.call_tool(
            "store", {"text": "The kettle is blue", "category": "home", "importance": 0.8, "url": ["https://a.example"]}
        )
        found = await client.call_tool("retrieve", {"query": "kettle"})
        context = await client.call_tool("context", {"query": "kettle"})
        tree = await client.call_tool("tree", {"show": True})

    assert set(tools) >= {"store", "retrieve", "context", "hot", "tree", "history", "search-url"}
    assert stored.is_error is False
    assert stored.structured_content["category"] == "home"
    assert [hit["text"] for hit in said(found)] == ["The kettle is blue"]
    assert "The kettle is blue" in context.structured_content["context"]
    assert "home" in tree.content[0].text


async def test_errors_are_results_that_a_model_can_read():
    """Bad values, missing values and unknown arguments: the error object; an unknown tool is the protocol's error."""
    async with session() as client:
        for arguments in ({"text": "x", "category": "y", "importance": 5}, {"text": "", "category": "y"}, {"text": "x"},
                          {"text": "x", "category": "y", "agent_id": "robin"}):  # fmt: skip
            refused = await client.call_tool("store", arguments)
            assert refused.is_error
            assert said(refused)["error"]["code"] == "usage"
        missing = await client.call_tool("history", {"id": "0" * 16})
        with pytest.raises(MCPError):
            await client.call_tool("forget", {"text": "x"})

    assert missing.is_error
    assert said(missing)["error"]["code"] == "no_input"


async def test_a_client_of_one_agent_never_reads_another():
    """The agent is the server's, whatever the arguments say; nobody offers --all-agents."""
    for agent in ("a", "a-b", "ab"):
        words = f"The shared words of {agent}"
        assert await asyncio.to_thread(run, ["store", "--text", words, "--category", "x", "--agent-id", agent]) == 0
    async with session("--agent-id", "a") as client:
        hits = said(await client.call_tool("retrieve", {"query": "shared words", "limit": 50}))
        context = await client.call_tool("context", {"query": "shared words"})
        refused = [
            await client.call_tool("retrieve", {"query": "shared words", **more})
            for more in ({"agent_id": "ab"}, {"all_agents": True}, {"agent-id": "ab"})
        ]

    assert [hit["text"] for hit in hits] == ["The shared words of a"]
    assert "of ab" not in context.content[0].text
    assert all(each.is_error for each in refused)


async def test_a_read_only_server_with_a_daemon_is_its_client_and_offers_no_change(daemon):
    """The call goes to the socket, with the bound agent; all that is listed is marked as reading."""
    daemon.says([])

    async with session("--agent-id", "robin", "--read-only") as client:
        tools = (await client.list_tools()).tools
        found = await client.call_tool("retrieve", {"query": "kettle"})
        with pytest.raises(MCPError):
            await client.call_tool("store", {"text": "x", "category": "y"})

    assert said(found) == []
    assert daemon.body == {"query": "kettle", "agent_id": "robin"}
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert "retrieve" in {tool.name for tool in tools}


def test_nothing_dangerous_is_a_tool():
    """What forgets, brings back, sends, reads any file or shows other agents is for the command line alone."""
    tools = offered(read_only=False)

    assert DANGEROUS & set(tools) == set()
    assert set(OPERATIONS) >= set(tools)
    for name, operation in tools.items():
        fields = input_schema(operation)["properties"]
        assert not {"agent_id", "all_agents", "file", "llm_endpoint", "llm_prompt_file"} & set(fields), name


def test_a_schema_is_the_requests():
    """Types, limits, defaults and descriptions are those of the command line; nothing else may be given."""
    schema = input_schema(OPERATIONS["store"])

    assert schema["required"] == ["text", "category"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["importance"] == {
        "type": "number", "minimum": 0, "maximum": 1, "default": 0.5, "description": "How much it matters, 0 to 1.",
    }  # fmt: skip
    assert schema["properties"]["url"]["items"] == {"type": "string"}


def test_without_the_package_it_says_what_to_install(monkeypatch, capsys):
    """One sentence and a hint, 78."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    assert run(["mcp"]) == 78
    assert "pip install 'memoryd[mcp]'" in capsys.readouterr().err


def test_an_unsafe_agent_id_is_refused_before_anything_is_served(capsys):
    """64."""
    assert run(["mcp", "--agent-id", "../x"]) == UsageError.exit_code


def test_a_client_that_hangs_up_ends_the_server():
    """End of stdin: exit code 0, nothing on stderr."""
    done = subprocess.run([MEMORYD, "mcp"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
