"""The seed document's own examples, in its order, as one script: the same results with a daemon and without."""

import json
import re

import pytest

NOTE = """# Friday

- Z-Image model for photorealistic images: https://docs.comfy.org/tutorials/image/z-image/z-image
  `huggingface-cli download Tongyi-MAI/Z-Image`
- LTX-Video: `git clone https://github.com/Lightricks/LTX-Video.git`, models in /home/peter/ai-stack/comfyui/models
"""
TALK = "User: Let's deploy to testnet first. Agent: Good idea, safer that way."
SCRIPT = [
    ("distill", "--text", TALK),
    ("distill", "--text", TALK, "--core-summary"),
    ("store", "--text", "Fact text", "--category", "path/to/category", "--importance", "0.8", "--agent-id", "default"),
    ("store", "--text", "Decided to deploy EvoClaw on BSC testnet before mainnet", "--category",
     "projects/evoclaw/deployment", "--importance", "0.85"),
    ("store", "--text", "Z-Image ComfyUI model for photorealistic images", "--category", "tools/image-generation",
     "--importance", "0.8", "--url", "https://docs.comfy.org/tutorials/image/z-image/z-image",
     "--command", "huggingface-cli download Tongyi-MAI/Z-Image", "--path", "/home/user/models/"),
    ("store", "--text", "Agent two has its own facts", "--category", "x", "--agent-id", "agent-2"),
    ("validate", "--file", "notes/memory/2026-02-13.md"),
    ("extract-metadata", "--file", "notes/memory/2026-02-13.md"),
    ("ingest-daily", "--days", "2", "--dry-run"),
    ("search-url", "--url", "comfy.org"),
    ("search-url", "--url", "github.com", "--limit", "10"),
    ("retrieve", "--query", "BSC deployment decision", "--limit", "5"),
    ("retrieve", "--query", "own facts", "--agent-id", "agent-2"),
    ("hot", "--update", "owner_profile", '{"timezone": "Australia/Sydney", "work_hours": "9am-6pm"}'),
    ("hot", "--update", "lesson",
     '{"text": "Always test on testnet first", "category": "blockchain", "importance": 0.9}'),
    ("hot", "--update", "project",
     '{"name": "EvoClaw", "status": "Active", "description": "Self-evolving agent framework"}'),
    ("hot", "--rebuild"),
    ("hot",),
    ("tree", "--add", "projects/evoclaw/bsc", "BSC blockchain integration"),
    ("tree", "--add", "old/unused/path", "To be removed"),
    ("tree", "--remove", "old/unused/path"),
    ("tree", "--prune"),
    ("tree",),
    ("consolidate",),
    ("consolidate", "--mode", "daily"),
    ("consolidate", "--mode", "monthly"),
    ("metrics", "--agent-id", "default"),
]  # fmt: skip
REFUSED = {
    ("store", "--text", "x", "--category", "y", "--importance", "NaN"): 64,
    ("store", "--text", "x", "--category", "y", "--importance", "5"): 64,
    ("store", "--text", "", "--category", "y"): 64,
    ("hot", "--update", "lesson", "{"): 64,
    ("hot", "--update", "nothing", "{}"): 64,
    ("consolidate", "--mode", "hourly"): 64,
    ("sync-critical",): 78,
    ("cold", "--init"): 78,
    ("extract-metadata", "--file", "notes/memory/none.md"): 66,
}
_CHANGING = re.compile(r"timestamp|last_consolidation|created_at|score|relevance")
"""What depends on the moment at which a command ran, and on whether a daemon's language process was there yet."""


def timeless(value):
    """A reply without times, and without the order of lessons, which is by time, and of hits.

    A daemon orders hits by cosines too, from the moment on when it has its language process.
    """
    if isinstance(value, dict):
        if lessons := value.get("critical_lessons"):
            value = value | {"critical_lessons": sorted(lessons, key=lambda each: each["text"])}
        return {name: timeless(each) for name, each in value.items() if not _CHANGING.search(name)}
    if isinstance(value, list):
        hits = all(isinstance(each, dict) and "search_method" in each for each in value)
        return [timeless(each) for each in (sorted(value, key=lambda hit: hit["id"]) if hits else value)]
    return value


def play(one):
    """Every command in order, then those that must be refused; replies, exit codes, and the page at the end."""
    (one.workspace / "memory/2026-02-13.md").write_text(NOTE)
    one.ask("rescan")
    replies = []
    for command in SCRIPT:
        done = one.run(*command, "--workspace", str(one.workspace))
        assert done.returncode in (0, 1 if command[0] == "validate" else 0), f"{command}: {done.stderr}"
        replies.append(timeless(json.loads(done.stdout)))
    shown = one.run("tree", "--show").stdout
    codes = {}
    for command in REFUSED:
        done = one.run(*command)
        assert "Traceback" not in done.stderr
        codes[command] = done.returncode
    page = (one.workspace / "MEMORY.md").read_text("utf-8")
    return replies, shown, codes, sorted(line for line in page.splitlines() if "sha256=" not in line)


@pytest.mark.timeout(240)
def test_the_seeds_examples_give_the_same_with_a_daemon_and_without(machine):
    """Replies as JSON, the tree as text, the refusals, and MEMORY.md."""
    alone = play(machine("alone"))
    served = play(machine("served").start())

    replies, shown, codes, page = alone
    named = dict(zip(SCRIPT, replies, strict=True))
    assert named[SCRIPT[0]]["distilled"]["emotion"] == "cautious"
    assert named[("search-url", "--url", "comfy.org")]["results_count"] == 2
    assert named[("hot",)]["owner_profile"] == {"timezone": "Australia/Sydney", "work_hours": "9am-6pm"}
    assert [hit["text"] for hit in named[SCRIPT[12]]] == ["Agent two has its own facts"]
    assert "Memories: warm=" in shown
    assert codes == REFUSED
    assert any("Always test on testnet first" in line for line in page)
    for command, one, other in zip(SCRIPT, replies, served[0], strict=True):
        assert one == other, command
    assert served[1:] == alone[1:]


def test_a_narrow_locale_damages_no_page(machine):
    """D14: under a locale that is not UTF-8 the Chinese lesson still stands on MEMORY.md."""
    one = machine()
    one.env |= {"LC_ALL": "POSIX", "LANG": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    done = one.run("hot", "--update", "lesson", json.dumps({"text": "上线前先在测试网验证"}))

    assert done.returncode == 0, done.stderr
    assert "上线前先在测试网验证" in (one.workspace / "MEMORY.md").read_text("utf-8")
