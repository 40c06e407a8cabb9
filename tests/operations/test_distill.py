"""`distill`: rules, or a model whose answer is checked; `mode` names what ran (docs/original.md)."""

import asyncio
import json
import time

import httpx
import pytest
from memoryd.config import DistillationSettings, LlmSettings, Settings
from memoryd.errors import ConfigError, NoInputError, UsageError
from memoryd.operations import distill as distilling
from memoryd.operations import ingest_daily as daily
from memoryd.operations.llm import Llm, LlmError, llm_of

SEED = "User: Let's deploy to testnet first. Agent: Good idea, safer that way."
GOOD = {
    "fact": "Decided to deploy to testnet before mainnet",
    "emotion": "cautious",
    "people": [],
    "topics": ["deployment"],
    "actions": ["deploy to testnet"],
    "outcome": "positive",
}


class Server:
    """Answers like an LLM endpoint of either style, and remembers what it was asked."""

    def __init__(self, answer, status=200):
        self.answer, self.status, self.asked = answer, status, []

    def __call__(self, request):
        body = json.loads(request.content)
        self.asked.append((request.headers.get("authorization"), body))
        text = self.answer if isinstance(self.answer, str) else json.dumps(self.answer)
        if "messages" in body:
            return httpx.Response(self.status, json={"choices": [{"message": {"content": text}}]})
        return httpx.Response(self.status, json={"text": text})

    def llm(self, url="http://localhost:8080/complete", **more):
        return Llm(url, transport=httpx.MockTransport(self), **more)


@pytest.fixture
def serve(monkeypatch):
    """Puts a server behind every endpoint that a command asks."""

    def put(answer, status=200):
        server = Server(answer, status)
        for module in (distilling, daily):
            monkeypatch.setattr(module, "llm_of", lambda *_: server.llm())
        return server

    return put


async def test_rules_give_the_seeds_structure(mind):
    """Every field of the document, sizes in bytes, and a summary when asked for."""
    found = await mind.ask("distill", text=SEED, core_summary=True)

    assert set(found["distilled"]) == set(GOOD)
    assert found["mode"] == "rule"
    assert found["original_size"] == 70
    assert found["distilled_size"] == len(found["distilled"]["fact"]) <= 100
    assert 0 < len(found["core_summary"].encode()) <= 30
    assert "llm_fallbacks" not in found


async def test_a_models_answer_is_taken_when_it_fits(mind, serve):
    """Mode llm, and what the model dropped (URLs, commands, paths) stands beside it."""
    server = serve(GOOD)

    found = await mind.ask("distill", text=SEED + " See https://a.example/x", llm=True)

    assert (found["mode"], found["llm_fallbacks"]) == ("llm", 0)
    assert found["distilled"] == GOOD
    assert found["metadata"]["urls"] == ["https://a.example/x"]
    assert SEED in server.asked[0][1]["prompt"]


@pytest.mark.parametrize(
    "answer",
    [
        "I am sorry",
        GOOD | {"outcome": "great"},
        GOOD | {"people": "nobody"},
        GOOD | {"fact": ""},
        GOOD | {"fact": "Zebras graze quietly"},
        [GOOD],
    ],
)
async def test_a_models_nonsense_falls_back_to_rules_and_is_counted(mind, serve, answer):
    """Wrong shape, closed lists broken, or a fact with no word of the text: rules answer and `mode` says so."""
    serve(answer)

    found = await mind.ask("distill", text=SEED, llm=True)

    assert (found["mode"], found["llm_fallbacks"]) == ("rule", 1)
    assert found["distilled"]["fact"] == "Decided to deploy to testnet first"
    assert (await mind.ask("metrics"))["llm_fallbacks"] == 1


async def test_a_model_invents_no_people_and_no_long_facts(mind, serve):
    """Names that the text does not hold are dropped, a long fact is cut to 100 bytes."""
    serve(GOOD | {"people": ["Zoe"], "fact": "Deploy to testnet " * 20})

    found = await mind.ask("distill", text=SEED, llm=True)

    assert found["distilled"]["people"] == []
    assert len(found["distilled"]["fact"].encode()) <= 100


async def test_urls_commands_and_paths_of_the_text_stay_beside_the_fact(mind):
    """Also those of code spans and fences, which the shortened fact has no room for."""
    text = (
        "User: Let's restart it with `systemctl restart kestrel`, see https://a.example/x\n"
        "Agent: Done, the log is in /var/log/kestrel.log:\n```\ngit clone https://b.example/r.git\nplain words\n```\n"
    )

    metadata = (await mind.ask("distill", text=text))["metadata"]

    assert sorted(metadata["commands"]) == ["git clone https://b.example/r.git", "systemctl restart kestrel"]
    assert metadata["urls"] == ["https://a.example/x", "https://b.example/r.git"]
    assert metadata["paths"] == ["/var/log/kestrel.log"]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("Agent: I ran:\n~~~\n```\ngit status\n~~~\nplain\n", ["git status"]),
        ("Agent: I ran:\n````sh\n```\ngit clone x\n````\nthen `ls -l` it\n", ["git clone x", "ls -l"]),
        ("Agent: Like so:\n```python\nmake install = 3\n```\n", []),
        ("Agent: Like so:\n```sh\ncurl -s \\\n  localhost\n```\n", ["curl -s localhost"]),
        ("User: It was ``git log `HEAD` -1``, I think\n", ["git log `HEAD` -1"]),
        ("| what | how |\n|---|---|\n| restart | `systemctl restart kestrel` |\n", ["systemctl restart kestrel"]),
    ],
)
async def test_code_of_a_conversation_is_read_as_that_of_a_note(mind, text, commands):
    """Fences end at their own mark, have their language and joined lines; a span may hold a backtick."""
    assert sorted((await mind.ask("distill", text=text))["metadata"]["commands"]) == commands


async def test_without_an_endpoint_the_mode_is_rule(mind):
    """`--llm` alone does not make it so."""
    found = await mind.ask("distill", text=SEED, llm=True)

    assert (found["mode"], found["llm_fallbacks"]) == ("rule", 1)


async def test_a_server_that_is_not_there_is_not_waited_for(mind):
    """Nothing listens: rules answer."""
    found = await mind.ask("distill", text=SEED, llm_endpoint="http://127.0.0.1:9/complete")

    assert found["mode"] == "rule"


async def test_a_configured_mode_asks_without_a_flag(new_mind, serve):
    """`distillation.mode = "llm"` is honoured, and so is the size."""
    mind = await new_mind(Settings(distillation=DistillationSettings(mode="llm", max_distilled_bytes=40)))
    serve(GOOD)

    found = await mind.ask("distill", text=SEED)

    assert found["mode"] == "llm"
    assert found["distilled_size"] <= 40


async def test_only_masked_text_leaves(mind, serve):
    """A secret in the conversation reaches neither the model nor the reply."""
    server = serve(GOOD)
    secret = "hunter2" + "secret"

    found = await mind.ask("distill", text=f"{SEED} password: {secret}", llm=True)

    assert secret not in json.dumps(server.asked)
    assert secret not in json.dumps(found)


async def test_a_file_is_distilled_and_a_missing_one_is_named(mind):
    """`--file` reads relative to the workspace; text and file together are refused, and so is nothing."""
    (mind.workspace / "talk.txt").write_text(SEED)

    assert (await mind.ask("distill", file="talk.txt"))["distilled"]["emotion"] == "cautious"
    with pytest.raises(NoInputError):
        await mind.ask("distill", file="none.txt")
    for fields in ({}, {"text": "  "}, {"text": SEED, "file": "talk.txt"}, {"text": "***"}):
        with pytest.raises(UsageError):
            await mind.ask("distill", **fields)


async def test_both_styles_of_endpoint_are_spoken():
    """A prompt for the plain style, messages for `…/chat/completions`, the key as a bearer."""
    server = Server("hello")

    assert await server.llm().complete("hi") == "hello"
    assert await server.llm("http://localhost:1/v1/chat/completions", model="m", key="k").complete("hi") == "hello"

    (_, plain), (key, chat) = server.asked
    assert plain["prompt"] == "hi"
    assert chat["messages"] == [{"role": "user", "content": "hi"}]
    assert (chat["model"], key) == ("m", "Bearer k")


@pytest.mark.parametrize(("answer", "status"), [("x", 500), ("x" * 200_001, 200)])
async def test_a_failing_or_endless_endpoint_is_an_error(answer, status):
    """HTTP errors and texts beyond all measure raise one error of their own."""
    with pytest.raises(LlmError):
        await Server(answer, status).llm().complete("hi")


async def _endpoint(answer):
    """A real server on loopback that handles each connection with `answer(writer)`."""

    async def handle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        try:
            await answer(writer)
        except ConnectionError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/complete"


async def _silent(writer):
    await asyncio.sleep(5)


async def _dripping(writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _endless(writer):
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"text": "')
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


@pytest.mark.parametrize("answer", [_silent, _dripping, _endless])
async def test_an_endpoint_that_does_not_come_to_an_end_is_given_up_in_time(new_mind, answer):
    """Silence, one byte after another, a body without end: rules answer within `llm.timeout_s`, and it is counted."""
    server, url = await _endpoint(answer)
    mind = await new_mind(Settings(llm=LlmSettings(endpoint=url, timeout_s=0.3)))
    async with server:
        started = time.monotonic()
        found = await mind.ask("distill", text=SEED, llm=True)
        took = time.monotonic() - started

    assert (found["mode"], found["llm_fallbacks"]) == ("rule", 1)
    assert (await mind.ask("metrics"))["llm_fallbacks"] == 1
    assert took < 4  # 0.3 s, on a machine that is busy with other things


async def test_a_reply_of_no_known_shape_is_an_error():
    """Neither text nor choices, or no JSON at all."""
    for content in (b"{}", b"<html>", b"[]", b'{"choices": []}'):
        transport = httpx.MockTransport(lambda _, content=content: httpx.Response(200, content=content))
        with pytest.raises(LlmError):
            await Llm("http://localhost/c", transport=transport).complete("hi")


def test_an_endpoint_of_another_machine_has_to_be_configured():
    """A flag may name this machine only; what the configuration names may be anywhere; nonsense is refused."""
    elsewhere = "https://models.example/complete"

    assert llm_of(Settings()) is None
    assert llm_of(Settings(), "http://127.0.0.1:1/c") is not None
    assert llm_of(Settings(llm=LlmSettings(endpoint=elsewhere)), elsewhere) is not None
    for url in (elsewhere, "ftp://localhost/c", "localhost"):
        with pytest.raises(ConfigError):
            llm_of(Settings(), url)


async def test_the_daily_command_reports_what_notes_hold(mind):
    """Files of the window, facts with ids, and nothing stored twice."""
    await mind.note("memory/2026-02-10.md", "- Too old for the window\n")
    today = "- Decided to use raw JSON-RPC\n- see https://a.example/x for the docs\n- Decided to use raw JSON-RPC\n"
    (mind.workspace / "memory/2026-02-13.md").write_text(today)

    dry = await mind.ask("ingest-daily", dry_run=True)
    first = await mind.ask("ingest-daily")
    again = await mind.ask("ingest-daily")

    assert (dry["files_scanned"], dry["facts_found"], dry["facts_stored"], dry["facts_skipped"]) == (1, 3, 0, 1)
    assert all("id" not in each for each in dry["facts"])
    assert (first["facts_found"], first["facts_stored"], first["facts_skipped"]) == (3, 2, 1)
    assert (again["facts_found"], again["facts_stored"], again["facts_skipped"]) == (3, 0, 3)
    assert {each["text"] for each in first["facts"]} == {
        "Decided to use raw JSON-RPC", "see https://a.example/x for the docs",
    }  # fmt: skip
    assert first["mode"] == "rule"
    assert first["facts"][1]["metadata"]["urls"] == ["https://a.example/x"]
    assert (await mind.ask("ingest-daily", days=4))["files_scanned"] == 2


async def test_a_dry_run_stores_nothing(mind):
    """No fact, no note row."""
    (mind.workspace / "memory/2026-02-13.md").write_text("- Decided to use raw JSON-RPC\n")

    await mind.ask("ingest-daily", dry_run=True)

    assert await mind.sql("SELECT count(*) FROM facts") == [(0,)]


async def test_a_model_makes_the_short_form_of_new_facts(mind, serve):
    """The short form is kept as an edit and counts for the warm tier; a refused one is counted."""
    serve(GOOD | {"fact": "Raw JSON-RPC it is"})
    (mind.workspace / "memory/2026-02-13.md").write_text("- Decided to use raw JSON-RPC\n- Zebras graze\n")

    found = await mind.ask("ingest-daily", llm_endpoint="http://localhost:1/c")

    assert (found["mode"], found["llm_fallbacks"]) == ("llm", 1)
    assert set(await mind.sql("SELECT distilled FROM derived")) == {("Raw JSON-RPC it is",), ("Zebras graze",)}
