"""Every command of the original with every flag (docs/original.md): its fields and their types, and its exit codes.

The same replies without a daemon are the matter of test_seed_document.py.
"""

import json

TEXT, NUMBER, WHOLE, YES = str, (int, float), int, bool
METADATA = {"urls": [TEXT], "commands": [TEXT], "paths": [TEXT]}
HIT = {"id": TEXT, "text": TEXT, "category": TEXT, "importance": NUMBER, "created_at": float, "access_count": WHOLE,
       "score": float, "metadata": METADATA, "tier": TEXT, "search_method": TEXT, "relevance": NUMBER,
       "sources": list}  # fmt: skip
DISTILLED = {"fact": TEXT, "emotion": TEXT, "people": [TEXT], "topics": [TEXT], "actions": [TEXT], "outcome": TEXT}
CONSOLIDATED = {"mode": TEXT, "agent_id": TEXT, "timestamp": float, "evicted_warm": WHOLE, "archived_cold": WHOLE,
                "hot_size_bytes": WHOLE}  # fmt: skip
DAILY = CONSOLIDATED | {"ingested_facts": WHOLE, "ingest_skipped": WHOLE, "pruned_nodes": WHOLE}
INGESTED = {"files_scanned": WHOLE, "mode": TEXT, "facts_found": WHOLE, "facts_stored": WHOLE, "facts_skipped": WHOLE,
            "llm_fallbacks": WHOLE}  # fmt: skip
FACT = {"text": TEXT, "category": TEXT, "importance": NUMBER, "metadata": METADATA}
METRICS = {"retrieval_count": WHOLE, "evictions_today": WHOLE, "reinforcements_today": WHOLE,
           "consolidation_count": WHOLE, "last_consolidation": NUMBER, "context_tokens_saved": WHOLE,
           "_schema_version": TEXT, "tree_index_size_bytes": WHOLE, "tree_node_count": WHOLE,
           "hot_memory_size_bytes": WHOLE, "warm_memory_count": WHOLE, "warm_memory_size_kb": float,
           "timestamp": TEXT}  # fmt: skip
HOT = {"identity": dict, "owner_profile": dict, "critical_lessons": [dict], "_schema_version": TEXT,
       "active_context": {"projects": [dict], "events": [dict], "tasks": [dict]}}  # fmt: skip
COLD = {"id": TEXT, "text": TEXT, "category": TEXT, "importance": NUMBER, "created_at": WHOLE, "tier": TEXT}
DAY = "notes/memory/2026-02-13.md"
_FINDINGS = ("validate", "--file", "notes/memory/2026-02-14.md")
TABLE = [
    (["store", "--text", "The kestrel listens on 8125", "--category", "ops/kestrel", "--importance", "0.9", "--url",
      "https://a.example/x", "--url", "https://b.example", "--cmd",
      "systemctl restart kestrel", "--path", "/etc/kestrel"],
     {"id": TEXT, "category": TEXT, "tier": TEXT, "metadata": METADATA, "cold_synced": YES}),
    (["retrieve", "--query", "kestrel", "--limit", "3"], [HIT]),
    (["retrieve", "--query", "kestrel", "--llm", "--llm-endpoint", "http://127.0.0.1:9/complete"], [HIT]),
    (["distill", "--text", "User: Let's deploy. Agent: Good idea.", "--core-summary"],
     {"distilled": DISTILLED, "mode": TEXT, "original_size": WHOLE, "distilled_size": WHOLE, "core_summary": TEXT}),
    (["distill", "--file", DAY, "--llm", "--llm-endpoint", "http://127.0.0.1:9/complete"],
     {"distilled": DISTILLED, "mode": TEXT, "original_size": WHOLE, "distilled_size": WHOLE}),
    (["hot", "--update", "identity", '{"agent_name": "Robin"}'], {"updated": TEXT}),
    (["hot", "--update", "owner_profile", '{"timezone": "UTC"}'], {"updated": TEXT}),
    (["hot", "--update", "lesson", '{"text": "Test first", "category": "ops", "importance": 0.9}'], {"updated": TEXT}),
    (["hot", "--update", "event", '{"text": "The fair begins"}'], {"updated": TEXT}),
    (["hot", "--update", "task", '{"text": "Test the scanners"}'], {"updated": TEXT}),
    (["hot", "--update", "project", '{"name": "Kestrel", "status": "Active"}'], {"updated": TEXT}),
    (["hot", "--rebuild"], {"output": TEXT, "size_bytes": WHOLE, "max_bytes": WHOLE}),
    (["hot"], HOT),
    (["tree", "--add", "old/unused", "To be removed"], {"path": TEXT, "added": YES}),
    (["tree", "--remove", "old/unused"], {"path": TEXT, "removed": YES}),
    (["tree", "--prune"], {"pruned": WHOLE}),
    (["consolidate"], CONSOLIDATED),
    (["consolidate", "--mode", "quick"], CONSOLIDATED),
    (["consolidate", "--mode", "daily"], DAILY),
    (["consolidate", "--mode", "monthly"], DAILY | {"tree_rebuilt": TEXT}),
    (["consolidate", "--mode", "full", "--llm-endpoint", "http://127.0.0.1:9/complete"],
     DAILY | {"tree_rebuilt": TEXT}),
    (["ingest-daily", "--days", "36500"], INGESTED | {"facts": [FACT | {"id": TEXT}]}),
    (["ingest-daily", "--days", "36500", "--dry-run"], INGESTED | {"facts": [FACT]}),
    (["metrics", "--agent-id", "default"], METRICS),
    (["sync-critical"], {"synced": YES, "timestamp": float}),
    (["cold", "--init"], {"initialized": YES}),
    (["cold", "--query", "kestrel", "--limit", "2"], [COLD | {"answered_by": TEXT}]),
    (["validate", "--file", "notes/memory/2026-02-12.md"], {"status": TEXT, "message": TEXT, "file": TEXT}),
    ([*_FINDINGS],
     {"status": TEXT, "warnings_count": WHOLE, "warnings": [TEXT], "file": TEXT, "suggestions": [TEXT]}),
    (["extract-metadata", "--file", DAY],
     {"file": TEXT, "metadata": METADATA,
      "summary": {"urls_count": WHOLE, "commands_count": WHOLE, "paths_count": WHOLE}}),
    (["search-url", "--url", "A.EXAMPLE", "--limit", "2"], {"query": TEXT, "results_count": WHOLE, "results": [HIT]}),
]  # fmt: skip


def misfits(value, shape, where=""):
    """Where a reply lacks a field of the shape, or has it in another type; lists must hold something to look at."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{where} is no object"]
        missing = [f"{where}.{name} is missing" for name in shape if name not in value]
        return missing + [fault for name in shape if name in value
                          for fault in misfits(value[name], shape[name], f"{where}.{name}")]  # fmt: skip
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where} is no array"]
        return [fault for n, each in enumerate(value) for fault in misfits(each, shape[0], f"{where}[{n}]")]
    is_bool = isinstance(value, bool) and shape is not bool
    return [] if isinstance(value, shape) and not is_bool else [f"{where} is {value!r}"]


def test_every_command_of_the_table_has_its_fields_in_their_types(machine):
    """One machine with a cloud and a daemon, the whole table in order."""
    one = machine(cloud=True)
    one.write("2026-02-12.md", "- The kettle is blue\n")
    one.write(
        "2026-02-13.md",
        "- See https://c.example and `git clone https://d.example/r.git`\n",
    )
    one.write("2026-02-14.md", "- Install ComfyUI\n- Setup Docker\n- Deploy Redis\n- Decided on FLUX\n")
    one.start()
    faults, replies = [], {}

    for command, shape in TABLE:
        done = one.run(*command)
        expected = 1 if tuple(command) == _FINDINGS else 0
        if done.returncode != expected:
            faults.append(f"{command} gave {done.returncode}: {done.stderr}")
            continue
        replies[tuple(command)] = reply = json.loads(done.stdout)
        faults += misfits(reply, shape, command[0])

    assert faults == []
    stored = replies[tuple(TABLE[0][0])]
    assert stored["metadata"] == {
        "urls": ["https://a.example/x", "https://b.example"], "commands": ["systemctl restart kestrel"],
        "paths": ["/etc/kestrel"],
    }  # fmt: skip
    for command, shape in TABLE:
        if isinstance(shape, list):
            assert replies[tuple(command)], f"{command} found nothing"
    assert replies["search-url", "--url", "A.EXAMPLE", "--limit", "2"]["results_count"] == 1
    assert replies["cold", "--query", "kestrel", "--limit", "2"][0]["answered_by"] == "cloud"
    assert replies["distill", "--file", DAY, "--llm", "--llm-endpoint", "http://127.0.0.1:9/complete"]["mode"] == "rule"
    assert all(value is not None for value in replies["metrics", "--agent-id", "default"].values())


def test_the_flags_of_the_original_for_the_cloud_work_with_a_warning_for_the_token(machine, sqld):
    """`--db-url` and `--auth-token`: the tables are made; stderr says where a token is safer, without repeating it."""
    one = machine()
    token = sqld.token()

    done = one.run("cold", "--init", "--db-url", sqld.url, "--auth-token", token)

    assert (done.returncode, json.loads(done.stdout)) == (0, {"initialized": True})
    assert "TURSO_AUTH_TOKEN" in done.stderr
    assert token not in done.stderr
    assert sqld.query("SELECT count(*) FROM cold_memories") == [["0"]]


def test_wrong_commands_end_with_their_code_and_change_nothing(machine):
    """64, 66 and 78: a sentence, a hint, the error object with --json. Without a daemon: test_seed_document.py."""
    one = machine().start()
    refused = {
        ("store", "--text", "x", "--category", "y", "--importance", "NaN"): 64,
        ("store", "--text", "x", "--category", "y", "--importance", "5"): 64,
        ("store", "--text", "", "--category", "y"): 64,
        ("store", "--text", "x"): 64,
        ("retrieve", "--query", "x", "--limit", "0"): 64,
        ("retrieve", "--query", "x", "--agent-id", "a/b"): 64,
        ("hot", "--update", "lesson", "{"): 64,
        ("hot", "--update", "colour", "{}"): 64,
        ("tree", "--remove", "nowhere/at/all"): 66,
        ("validate", "--file", "none.md"): 66,
        ("extract-metadata", "--file", "none.md"): 66,
        ("sync-critical",): 78,
        ("cold", "--query", "x"): 78,
        ("cold", "--init"): 78,
    }

    given = {}
    for command in refused:
        done = one.run(*command, "--json")
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        given[command] = done.returncode
        assert error["message"].endswith((".", "?")), error
        assert error["hint"], error
        assert done.stdout == ""

    assert given == refused
    assert one.ask("tree")["nodes"][0]["warm_count"] == 0
