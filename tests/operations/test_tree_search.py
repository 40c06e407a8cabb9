"""The category tree in `retrieve`: chosen by a model, found by its words, and named as the original names it."""

import json
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread

import pytest
from memoryd.config import LlmSettings, Settings
from memoryd.errors import AccessError, ConfigError, NoInputError

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
        self.text, self.prompts, self.status, self.reply = "[]", [], 200, None
        self.held = Event()
        self.held.set()
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.prompts.append(body.get("prompt") or body["messages"][0]["content"])
                reply = (
                    {"choices": [{"message": {"content": model.text}}]} if "messages" in body else {"text": model.text}
                )
                model.held.wait(5)
                self.send_response(model.status)
                self.end_headers()
                with suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(json.dumps(model.reply or reply).encode())

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
    """A prompt file is filled in; one that lacks a place, or an endpoint of another machine, is refused."""
    (home.workspace / "prompt.txt").write_text("Pick for {query} from:\n{tree}\n", "utf-8")
    (home.workspace / "letter.txt").write_text("Dear {query}\n", "utf-8")
    await home.ask("tree", add=["home", "About {query}"])

    await home.ask("retrieve", query="boiler", llm=True, llm_endpoint=model.url(), llm_prompt_file="prompt.txt")

    assert model.prompts[0].startswith("Pick for boiler from:\n")
    assert "home — About {query} (warm:2, cold:0)\n" in model.prompts[0]
    with pytest.raises(NoInputError, match=r"lacks \{tree\}"):
        await home.ask("retrieve", query="x", llm=True, llm_endpoint=model.url(), llm_prompt_file="letter.txt")
    assert (home.workspace / "letter.txt").read_text("utf-8") == "Dear {query}\n"
    with pytest.raises(ConfigError):
        await home.ask("retrieve", query="x", llm=True, llm_endpoint="http://example.com/complete")


async def test_a_new_prompt_file_gets_the_prompt_for_a_model_by_hand(home):
    """Without an endpoint, words answer, and the prompt stands in the new file that was named, without secrets."""
    secret = "ghp_" + "a1B2c3D4e5" * 4

    found = await home.ask("retrieve", query=f"boiler {secret}", llm=True, llm_prompt_file="prompt.txt", envelope=True)

    written = home.workspace / "prompt.txt"
    assert "home — Home (warm:2, cold:0)\n" in written.read_text("utf-8")
    assert "User Query: boiler" in written.read_text("utf-8")
    assert secret not in written.read_text("utf-8")
    assert written.stat().st_mode & 0o777 == 0o600
    assert found["results"][0]["text"] == "The boiler was repaired by Okonkwo"
    assert str(written) in found["reason"]


async def test_prompt_file_in_a_folder_that_is_not_there(home):
    """Where the prompt cannot be written, the error says so."""
    with pytest.raises(AccessError, match="cannot be written"):
        await home.ask("retrieve", query="boiler", llm=True, llm_prompt_file="no/prompt.txt")


async def test_explain_shows_the_models_reason(home, model):
    """The reason that the model gives for a path stands beside the hits of its category."""
    model.text = json.dumps([{"path": "home", "relevance": 0.9, "reason": "repairs are done at home"}])

    found = await home.ask("retrieve", query="boiler", llm=True, llm_endpoint=model.url(), explain=True)

    assert found[0]["why"]["reason"] == "The model chose home: repairs are done at home"


async def test_chosen_node_holds_what_was_folded_into_it(new_mind, model):
    """A fact whose category has no node of its own is found at the node above, also where no word speaks for it."""
    mind = await new_mind()
    for n in range(60):
        await mind.ask("store", text=f"Harvest number {n} was good", category=f"farm/field{n}")
    model.text = json.dumps([{"path": "farm", "relevance": 0.8}])

    found = await mind.ask("retrieve", query="zucchini", llm=True, llm_endpoint=model.url(), limit=100)

    assert len(found) == 60
    assert {hit["search_method"] for hit in found} == {"llm-tree"}


@pytest.mark.parametrize(
    ("status", "said"), [(404, "answers with status 404"), (500, "answers with status 500"), (200, "neither text")]
)
async def test_reason_says_what_the_endpoint_did(home, model, status, said):
    """A reason names the status of an endpoint that refuses, or what its reply lacks."""
    model.status, model.reply = status, {"error": "no"}

    found = await home.ask("retrieve", query="boiler", llm=True, llm_endpoint=model.url(), envelope=True)

    assert said in found["reason"]
    assert found["results"]


async def test_slow_endpoint_is_given_up(new_mind, model):
    """An endpoint that takes longer than llm.timeout_s is given up, and the reason says after how long."""
    mind = await new_mind(Settings(llm=LlmSettings(endpoint=model.url(), timeout_s=0.1)))
    await mind.note("memory/2026-02-13.md", NOTE)
    model.held = Event()

    found = await mind.ask("retrieve", query="boiler", llm=True, envelope=True)

    model.held.set()
    assert found["reason"] == "The LLM endpoint did not answer within 0.1 s."
    assert found["results"]


async def test_a_word_of_a_description_leads_to_the_facts_of_the_node(home):
    """What a node is said to be about finds its facts, in English and Chinese, behind those that say it themselves."""
    await home.ask("tree", add=["home", "Housekeeping and plumbing, 家务"])
    await home.ask("store", text="The plumbing school opens in May", category="city")

    plumbing = await home.ask("retrieve", query="plumbing", explain=True)

    assert plumbing[0]["text"] == "The plumbing school opens in May"
    assert [hit["search_method"] for hit in await home.ask("retrieve", query="housekeeping")] == ["keyword-tree"] * 2
    assert {hit["category"] for hit in await home.ask("retrieve", query="家务有哪些")} == {"home"}
    assert (await home.ask("retrieve", query="housekeeping", explain=True))[0]["why"]["matched"] == ["housekeep"]


async def test_a_described_node_covers_what_is_below_it(new_mind):
    """Facts of the categories below a described node are found by its description, and no others."""
    mind = await new_mind()
    await mind.ask("store", text="Harvest was good", category="farm/north/field")
    await mind.ask("store", text="Rent is due", category="farmhouse")
    await mind.ask("tree", add=["farm", "Agriculture"])

    assert await mind.hits("agriculture") == ["Harvest was good"]


async def test_best_words_beside_a_description(new_mind):
    """Of the facts of a described node the one that has the question's other words comes first."""
    mind = await new_mind()
    for text in ("The bridge was chosen on Monday", "The deadline moved to 9 December", "Tests run twice"):
        await mind.ask("store", text=text, category="projects/bsc")
    await mind.ask("tree", add=["projects/bsc", "Integration for the hackathon"])

    assert (await mind.hits("what did we decide about the hackathon deadline"))[0] == "The deadline moved to 9 December"


async def test_search_method_is_one_of_the_originals(new_mind):
    """Words find keyword-warm or, of a cold fact, cold; a category alone keyword-tree."""
    mind = await new_mind()
    await mind.note("memory/2024-02-13.md", "# Old\n\n- The lighthouse was painted\n")
    await mind.ask("store", text="The harbour is deep", category="coast")

    methods = {q: [hit["search_method"] for hit in await mind.ask("retrieve", query=q)] for q in WORDS_OF_METHODS}

    assert methods == WORDS_OF_METHODS


WORDS_OF_METHODS = {"lighthouse": ["cold"], "harbour": ["keyword-warm"], "coast": ["keyword-tree"]}


async def test_secrets_do_not_reach_the_model(new_mind, model):
    """What a question holds of secrets is masked on its way to the model."""
    mind = await new_mind(Settings(llm=LlmSettings(endpoint=model.url())))
    await mind.note("memory/2026-02-13.md", NOTE)
    secret = "ghp_" + "a1B2c3D4e5" * 4

    await mind.ask("retrieve", query=f"where is {secret} used", llm=True)

    assert model.prompts
    assert secret not in model.prompts[0]
