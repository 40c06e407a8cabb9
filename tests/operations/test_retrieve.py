"""`retrieve`: what it explains, aliases, the tree chosen by a model, and never a miss after a write."""

import asyncio
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from memoryd.config import LlmSettings, Settings
from memoryd.errors import ConfigError, NoInputError

NOTE = """# 2026-02-13

## Home

- The boiler was repaired by Okonkwo
- The garden needs water

## Work

- Trust verification needs two approvals
- Deploy with `make ship`
"""


class Model:
    """An endpoint on this machine that answers every prompt with the same text."""

    def __init__(self):
        self.text, self.prompts, self.chat = "[]", [], False
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.prompts.append(body.get("prompt") or body["messages"][0]["content"])
                reply = (
                    {"choices": [{"message": {"content": model.text}}]} if "messages" in body else {"text": model.text}
                )
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def url(self, path="/complete"):
        return f"http://127.0.0.1:{self.server.server_port}{path}"


@pytest.fixture
def model():
    one = Model()
    yield one
    one.server.shutdown()
    one.server.server_close()


@pytest.fixture
async def home(new_mind):
    mind = await new_mind()
    await mind.note("memory/2026-02-13.md", NOTE)
    return mind


async def test_explain_says_why(home):
    """A hit says its category's path, the terms found and not found, the parts of its score, and its line."""
    hit = (await home.ask("retrieve", query="who repaired the boiler quickly", explain=True))[0]

    why = hit["why"]
    assert hit["text"] == "The boiler was repaired by Okonkwo"
    assert why["matched"] == ["repair", "boiler"]
    assert why["unmatched"] == ["quick"]
    assert (why["file"], why["line"]) == ("memory/2026-02-13.md", 5)
    assert why["category_path"][-1] == hit["category"]
    assert {"words", "context", "day", "prior"} <= why["parts"].keys()
    assert "why" not in (await home.ask("retrieve", query="boiler"))[0]


async def test_gate_of_the_second_seed(home):
    """five-factor finds trust verification once aliases.txt says so, without a restart."""
    assert await home.hits("five-factor") == []

    (home.workspace / "memory" / "aliases.txt").write_text("five-factor, trust verification, 五元组审查\n", "utf-8")

    assert (await home.hits("five-factor"))[0] == "Trust verification needs two approvals"
    assert (await home.hits("五元组审查"))[0] == "Trust verification needs two approvals"


@pytest.mark.parametrize("path", ["/complete", "/v1/chat/completions"])
async def test_model_chooses_the_categories(home, model, path):
    """The facts of the chosen categories come first, in both styles of endpoint; unknown paths are dropped."""
    category = (await home.ask("retrieve", query="garden"))[0]["category"]
    model.text = json.dumps([{"path": "no/such", "relevance": 1}, {"path": category, "relevance": 0.9}])

    found = await home.ask("retrieve", query="plants outside", llm=True, llm_endpoint=model.url(path), envelope=True)

    assert found["reason"] == ""
    assert {hit["category"] for hit in found["results"]} == {category}
    assert {hit["search_method"] for hit in found["results"]} == {"llm-tree"}
    assert "plants outside" in model.prompts[0]
    assert category in model.prompts[0]


@pytest.mark.parametrize("text", ["no json", '{"a": 1}', '[{"path": 3}]', "[]", '[{"path": "no/such"}]'])
async def test_words_answer_where_the_model_fails(home, model, text):
    """Any useless reply leaves the hits of the words, marked, and the reason beside them."""
    model.text = text

    found = await home.ask("retrieve", query="boiler", llm=True, llm_endpoint=model.url(), envelope=True, explain=True)

    assert found["results"][0]["text"] == "The boiler was repaired by Okonkwo"
    assert found["results"][0]["search_method"] == "fallback"
    assert found["reason"]
    assert found["results"][0]["why"]["reason"] == found["reason"]


async def test_no_endpoint_is_a_reason(home):
    """Without an endpoint, or with one that does not answer, words answer and the reply says so."""
    assert (await home.ask("retrieve", query="boiler", llm=True, envelope=True))["reason"]
    dead = await home.ask("retrieve", query="boiler", llm=True, llm_endpoint="http://127.0.0.1:9/x", envelope=True)
    assert dead["reason"]
    assert dead["results"]


async def test_own_prompt_and_other_machines(home, model):
    """A prompt file is filled in; a missing one, or an endpoint of another machine, is refused."""
    (home.workspace / "prompt.txt").write_text("Pick for {query} from:\n{tree}\n", "utf-8")

    await home.ask("retrieve", query="boiler", llm=True, llm_endpoint=model.url(), llm_prompt_file="prompt.txt")

    assert model.prompts[0].startswith("Pick for boiler from:\n")
    with pytest.raises(NoInputError):
        await home.ask("retrieve", query="x", llm=True, llm_endpoint=model.url(), llm_prompt_file="none.txt")
    with pytest.raises(ConfigError):
        await home.ask("retrieve", query="x", llm=True, llm_endpoint="http://example.com/complete")


async def test_secrets_do_not_reach_the_model(new_mind, model):
    """What a question holds of secrets is masked on its way to the model."""
    mind = await new_mind(Settings(llm=LlmSettings(endpoint=model.url())))
    await mind.note("memory/2026-02-13.md", NOTE)
    secret = "ghp_" + "a1B2c3D4e5" * 4

    await mind.ask("retrieve", query=f"where is {secret} used", llm=True)

    assert model.prompts
    assert secret not in model.prompts[0]


async def test_after_write_never_misses(new_mind):
    """What is on disk when a question with after_write comes is found, sixty times in a row."""
    mind = await new_mind()
    file = mind.workspace / "memory" / "2026-02-13.md"
    for turn in range(60):
        with file.open("a", encoding="utf-8") as note:
            note.write(f"- Reading number{turn}x of the boiler\n")

        found = await mind.ask("retrieve", query=f"number{turn}x", after_write=True, envelope=True)

        assert f"number{turn}x" in found["results"][0]["text"]
        assert not found["stale"]


async def test_a_miss_is_never_without_stale(new_mind):
    """While a change is on its way in, an answer that lacks it says that it is stale."""
    mind = await new_mind()
    await mind.memory.rescan()
    file = mind.workspace / "memory" / "2026-02-13.md"
    for turn in range(60):
        with file.open("a", encoding="utf-8") as note:
            note.write(f"- Reading number{turn}x of the boiler\n")
        taking = asyncio.ensure_future(mind.memory.hint(["memory/2026-02-13.md"]))
        await asyncio.sleep(0)

        found = await mind.ask("retrieve", query=f"number{turn}x", envelope=True)

        assert found["stale"] or f"number{turn}x" in found["results"][0]["text"]
        await taking
