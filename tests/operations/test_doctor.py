"""`doctor`: every check, with the fault that it is for really made."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memoryd.config import ColdSettings, LlmSettings, Settings, SyncSettings
from memoryd.operations import doctor_language, doctor_places
from memoryd.operations.doctor_cloud import check_token
from memoryd.operations.doctor_memory import settings_in_force
from memoryd.search import language_worker

SECRET = "tok" + "en-" + "of-mine-0123456789"
ALL = {
    "platform", "python", "workspace", "config.json", "state", "disk", "inotify", "leftovers", "last start", "token",
    "settings", "watcher", "freshness", "database", "audit", "restore", "chinese", "ranking", "self-recall", "llm",
    "warnings",
}  # fmt: skip


@pytest.fixture
def quick(monkeypatch):
    """No process is started for checks that a test is not about."""

    async def nothing(*_):
        return doctor_places.good("left out", "")

    for place in ("doctor_memory._integrity", "doctor_language._chinese", "doctor_language._ranking"):
        monkeypatch.setattr(f"memoryd.operations.{place}", nothing)


async def checks(mind):
    """Name to check."""
    return {each["name"]: each for each in (await mind.ask("doctor"))["checks"]}


async def language_checks(mind):
    """Name to check, of those that start a language process."""
    return {check.name: check async for check in doctor_language.check_language(mind.memory)}


async def test_a_sound_memory_fails_nothing(mind):
    """Every check is made, and what is only missing (daemon, snapshot) is a warning: exit code 0."""
    await mind.note("memory/2026-02-13.md", "- The kettle is blue\n- 今天天气很好\n")
    await mind.note("memory/custom_dict.txt", "五元组\n")

    outcome = await mind.outcome("doctor")

    found = {each.name: each for each in outcome.reply.checks}
    assert set(found) == ALL
    assert {name for name, each in found.items() if each.state == "fail"} == set()
    assert {name for name, each in found.items() if each.state == "warn"} == {"watcher", "restore"}
    assert outcome.exit_code == 0
    assert all(each.fix for each in found.values() if each.state != "ok")
    assert "custom_dict.txt too" in found["chinese"].message
    assert "2 facts" in found["audit"].message
    assert {each.name for each in outcome.reply.settings} >= {"hot.max_bytes", "cold.backend", "agent_id"}


async def test_a_failed_check_is_exit_code_one(mind, quick):
    """The same reply, and 1."""
    mind.places.state.chmod(0o755)

    outcome = await mind.outcome("doctor")

    assert (outcome.exit_code, outcome.reply.ok) == (1, False)


async def test_a_state_folder_that_others_may_enter_fails(mind, quick):
    """Folder and database."""
    mind.places.state.chmod(0o750)
    entered = (await checks(mind))["state"]
    mind.places.state.chmod(0o700)
    mind.places.database.chmod(0o644)
    read = (await checks(mind))["state"]

    assert (entered["state"], entered["fix"]) == ("fail", f"Run: chmod 700 {mind.places.state}")
    assert (read["state"], read["fix"]) == ("fail", f"Run: chmod 600 {mind.places.database}")


async def test_a_state_folder_inside_the_workspace_fails(mind):
    """Promise 1: memoryd's files are none of the user's."""
    inside = mind.places.__class__("default", mind.workspace / "state", *[mind.root] * 3, mind.workspace)
    inside.state.mkdir(mode=0o700)

    found = {each.name: each for each in doctor_places.check_places(inside, watching=False)}

    assert found["state"].state == "fail"
    assert "MEMORYD_STATE_DIR" in found["state"].fix


async def test_a_missing_workspace_or_memory_folder_is_told(mind, quick):
    """No `memory/` is a warning, no workspace a failure."""
    (mind.workspace / "memory").rmdir()
    without = (await checks(mind))["workspace"]
    mind.workspace.rename(mind.root / "moved")
    gone = (await checks(mind))["workspace"]
    (mind.root / "moved").rename(mind.workspace)

    assert (without["state"], gone["state"]) == ("warn", "fail")
    assert "does not exist" in gone["message"]


async def test_unknown_keys_and_a_broken_seed_file_are_told(mind, quick):
    """Ignored keys are named; a broken file fails here and where the settings are compared."""
    (mind.workspace / "config.json").write_text(json.dumps({"_comment": "x", "hot": {"colour": 1, "max_tasks": 9}}))
    mind.memory.settings.hot.max_tasks = 9
    ignored = (await checks(mind))["config.json"]
    (mind.workspace / "config.json").write_text("{")
    broken = await checks(mind)

    assert (ignored["state"], "Ignored: _comment, hot.colour." in ignored["message"]) == ("ok", True)
    assert broken["config.json"]["state"] == "fail"
    assert broken["settings"]["state"] == "fail"


async def test_a_setting_that_was_changed_has_no_effect_yet(mind, quick):
    """What stands in the file is compared with what is in force, and the fix says how it is taken over."""
    mind.places.config.write_text("[hot]\nmax_tasks = 3\n")

    found = (await checks(mind))["settings"]

    assert found["state"] == "warn"
    assert "hot.max_tasks" in found["message"]
    assert f"kill -HUP {os.getpid()}" in found["fix"]


async def test_leftovers_of_crashes_are_named(mind, quick):
    """Old temporary files of the state folder, of MEMORY.md and of a restore; fresh ones may be in use."""
    old = time.time() - 3600
    for path in (mind.places.state / "device.new", mind.workspace / ".MEMORY.md.memoryd",
                 mind.workspace / "memory/.memoryd-restore-1a2b"):  # fmt: skip
        path.write_text("x")
        os.utime(path, (old, old))
    (mind.places.state / "damaged.new").write_text("x")

    found = (await checks(mind))["leftovers"]

    assert found["state"] == "warn"
    for name in ("device.new", ".MEMORY.md.memoryd", ".memoryd-restore-1a2b"):
        assert name in found["message"]
    assert "damaged.new" not in found["message"]


async def test_a_start_that_met_a_wrong_setting_is_told(mind, quick):
    """What launchd would hide (exit code 0) stands here, with its hint."""
    error = {"error": {"code": "configuration", "message": "hot.max is unknown.", "hint": "Correct it."}}
    (mind.places.state / "last-error.json").write_text(json.dumps(error))

    found = (await checks(mind))["last start"]

    assert (found["state"], found["fix"]) == ("fail", "Correct it.")
    assert "hot.max is unknown." in found["message"]


async def test_a_damaged_database_fails(mind):
    """The process that looks at the file finds it, whatever the open connection still remembers."""
    await mind.note("memory/2026-02-13.md", "".join(f"- Fact number {n} of the long list\n" for n in range(200)))
    await mind.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(mind.places.database.read_bytes())
    data[8192:60_000] = os.urandom(60_000 - 8192)
    sound = mind.places.database.read_bytes()
    mind.places.database.write_bytes(data)

    from memoryd.operations.doctor_memory import _integrity

    found = await _integrity(mind.memory)
    mind.places.database.write_bytes(sound)

    assert found.state == "fail"
    assert "damaged" in found.message


async def test_an_audit_that_finds_something_fails_without_words_of_a_note(mind, quick):
    """A fact in two places is told by its kind."""
    await mind.ask("store", text="The kettle is violet", category="home")
    await mind.memory.thread.call(_misplace)

    found = (await checks(mind))["audit"]

    assert found["state"] == "fail"
    assert "violet" not in json.dumps(await checks(mind))


def _misplace(store):
    with store.transaction() as tx:
        tx.run("UPDATE derived SET tier = 'frozen'")


async def test_a_snapshot_of_last_week_is_too_old(mind, quick):
    """Without a cloud the snapshot is the copy; a fresh one is well."""
    await mind.ask("store", text="The kettle is blue", category="home")
    await mind.memory.snapshots.take()
    fresh = (await checks(mind))["restore"]
    mind.clock.advance(7 * 86_400)
    old = (await checks(mind))["restore"]

    assert (fresh["state"], old["state"]) == ("ok", "warn")


async def test_a_word_of_ones_own_that_is_not_cut_is_told(mind, monkeypatch):
    """The setting's effect is asked for: a first word that the dictionary did not take."""
    await mind.note("memory/custom_dict.txt", "五元组\n")
    monkeypatch.setattr(doctor_language, "_own_word", lambda _: "蓝鲸不在字典里面")

    assert (await language_checks(mind))["chinese"].state == "warn"


@pytest.mark.parametrize("data", ["五元组\n".encode("gb18030"), b"word\0word\n"])
async def test_own_dictionary_that_is_no_text_is_a_warning(mind, data):
    """A custom_dict.txt in another encoding, or with a NUL in it, is named, with how to save it."""
    (mind.workspace / "memory" / "custom_dict.txt").write_bytes(data)

    check = (await language_checks(mind))["chinese"]

    assert (check.state, check.message) == ("warn", "custom_dict.txt is no UTF-8 text.")


async def test_a_language_process_that_does_not_start_fails(mind, monkeypatch):
    """Chinese is found by characters alone then, hits are ordered without cosines, and doctor says so."""
    monkeypatch.setattr("memoryd.search.language._WORKER", Path("/nowhere/worker.py"))

    assert {name: check.state for name, check in (await language_checks(mind)).items()} == {
        "chinese": "fail",
        "ranking": "fail",
    }


@pytest.mark.parametrize(
    ("module", "broken", "sound"), [("sklearn", "ranking", "chinese"), ("jieba", "chinese", "ranking")]
)
async def test_a_library_that_does_not_load_fails_its_own_check_only(
    mind, monkeypatch, tmp_path, module, broken, sound
):
    """The other library works on; the reason stands in the message."""
    script = tmp_path / "worker.py"
    script.write_text(
        f"import runpy, sys\nsys.modules[{module!r}] = None\n"
        f"runpy.run_path({language_worker.__file__!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr("memoryd.search.language._WORKER", script)

    found = await language_checks(mind)

    assert (found[broken].state, found[sound].state) == ("fail", "ok")
    assert module in found[broken].message


async def test_a_model_that_does_not_answer_is_a_warning(new_mind, quick):
    """Rules answer instead; an endpoint that is no URL fails."""
    silent = await new_mind(Settings(llm=LlmSettings(endpoint="http://127.0.0.1:9/complete")))
    wrong = await new_mind(Settings(llm=LlmSettings(endpoint="localhost:9")))

    assert (await checks(silent))["llm"]["state"] == "warn"
    assert (await checks(wrong))["llm"]["state"] == "fail"


async def test_what_status_warns_of_is_named_by_its_code(mind, quick):
    """Codes, not file names."""
    await mind.note("memory/private-thoughts.md", "- x\n")

    found = (await checks(mind))["warnings"]

    assert (found["state"], "unmatched" in found["message"]) == ("warn", True)
    assert "private" not in found["message"]


def test_a_token_file_that_others_can_read_fails(tmp_path):
    """Mode 0600 or nothing."""
    file = tmp_path / "token"
    file.write_text(SECRET)
    file.chmod(0o644)
    settings = Settings(sync=SyncSettings(url="https://a.example", token_file=str(file)))

    shown = check_token(settings, used=True, environment={}, arguments="")
    file.chmod(0o600)
    private = check_token(settings, used=True, environment={}, arguments="")

    assert (shown.state, f"chmod 600 {file}" in shown.fix) == ("fail", True)
    assert (private.state, str(file) in private.message) == ("ok", True)


@pytest.mark.parametrize(
    ("environment", "arguments", "state", "said"),
    [
        ({}, "", "ok", "No cloud"),
        ({"TURSO_TOKEN": SECRET}, "", "warn", "no URL"),
        ({"TURSO_URL": "https://a.example"}, "", "warn", "no token"),
        ({"TURSO_URL": "https://a.example", "TURSO_AUTH_TOKEN": SECRET}, "", "ok", "TURSO_AUTH_TOKEN"),
        ({"TURSO_URL": "https://a.example", "TURSO_AUTH_TOKEN": SECRET}, f"memoryd run {SECRET}", "fail", "processes"),
        ({"TURSO_URL": "https://a.example"}, "memoryd run --auth-token x", "fail", "processes"),
        ({"TURSO_URL": "ftp://a.example"}, "", "fail", "no cloud URL"),
        ({"TURSO_URL": SECRET}, "", "fail", "no cloud URL"),
    ],
)
def test_where_the_token_comes_from_is_told_and_never_the_token(environment, arguments, state, said):
    """Source, effect and who can see it."""
    found = check_token(Settings(), used="TURSO_URL" in environment, environment=environment, arguments=arguments)

    assert (found.state, said in found.message) == (state, True)
    assert SECRET not in f"{found.message} {found.fix}"


def test_a_backend_that_is_off_is_told():
    """Whoever set a URL and sees no sync finds the reason here."""
    found = check_token(
        Settings(cold=ColdSettings(backend="off")),
        used=False,
        environment={"TURSO_URL": "https://a.example"},
        arguments="",
    )

    assert "cold.backend" in found.message


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10, 1), "fail"), ((3, 11, 0), "ok"), ((3, 13, 9), "ok"), ((3, 14, 0), "fail")]
)
def test_a_python_that_the_engine_does_not_run_on_fails(version, state):
    """3.11 to 3.13."""
    assert doctor_places._python(version).state == state


def test_another_engine_fails(monkeypatch):
    """The adapter's rules were measured on one version."""
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.0.54")

    assert doctor_places._platform().state == "fail"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (f"https://a.example/x?key={SECRET}", "https://a.example/x"),
        (f"https://me:{SECRET}@a.example:8080/x#{SECRET}", "https://a.example:8080/x"),
        (SECRET, "(no URL)"),
        (f"localhost:8080/x?key={SECRET}", "(no URL)"),
        (f"http://[{SECRET}", "(no URL)"),
        ("", ""),
    ],
)
def test_settings_come_with_their_source_and_without_a_key(given, shown):
    """Of both URLs, also where the key was put into the wrong place."""
    settings = Settings(llm=LlmSettings(endpoint=given), sync=SyncSettings(url=given))

    found = {each.name: each for each in settings_in_force(settings, {"llm.endpoint": "/c.toml"})}

    assert (found["llm.endpoint"].value, found["llm.endpoint"].source) == (shown, "/c.toml")
    assert (found["sync.url"].value, found["sync.url"].source) == (shown, "default")


async def test_an_endpoint_that_is_no_url_is_told_without_it(new_mind, quick):
    """The report is pasted somewhere."""
    mind = await new_mind(Settings(llm=LlmSettings(endpoint=f"localhost:1/x?key={SECRET}")))

    outcome = await mind.outcome("doctor")

    assert {each.name: each.state for each in outcome.reply.checks}["llm"] == "fail"
    assert SECRET not in str(outcome.reply)


@pytest.mark.parametrize(
    ("access", "lives_s", "name", "state"), [("ro", 3600, "cloud writes", "warn"), ("rw", -600, "cloud", "fail")]
)
async def test_what_the_token_may_do_is_tried(new_mind, sqld, quick, access, lives_s, name, state):
    """A read-only token is a warning, an expired one a failure; an empty cloud is told before anything was pushed."""
    writer = await new_mind(url=sqld.url, token=sqld.token())
    empty = await checks(writer)
    await writer.ask("sync", wait=True)
    written = await checks(writer)
    other = await new_mind(url=sqld.url, token=sqld.token(access, lives_s))

    found = await checks(other)

    assert (empty["cloud"]["state"], empty["cloud writes"]["state"]) == ("ok", "warn")
    assert (written["cloud writes"]["state"], written["sync"]["state"]) == ("ok", "ok")
    assert found[name]["state"] == state


async def test_a_cloud_that_is_gone_fails_and_a_wrong_clock_is_told(new_mind, sqld, quick):
    """Two hours off is a warning (the memory's own clock is the manual one); nothing listening is a failure."""
    mind = await new_mind(url=sqld.url, token=sqld.token())
    mind.clock.advance(time.time() - mind.clock.now_ms() / 1000)
    right = await checks(mind)
    mind.clock.advance(7200)
    wrong = await checks(mind)
    sqld.stop()
    gone = await checks(mind)

    assert right["clock"]["state"] == "ok"
    assert (wrong["clock"]["state"], "ahead of" in wrong["clock"]["message"]) == ("warn", True)
    assert (gone["cloud"]["state"], "locally" in gone["cloud"]["fix"]) == ("fail", True)


_PROBE = """
import sys
from pathlib import Path
from memoryd.places import Places
from memoryd.operations.doctor_places import check_places
root = Path(sys.argv[1])
places = Places("default", root / "state", root, root / "s", root / "c.toml", root / "notes")
for check in check_places(places, watching=False):
    print(check.name, "|", check.state, "|", check.message, "|", check.fix)
"""


def _inside(root, *setup):
    """The checks of a process in namespaces of its own, after some shell commands."""
    (root / "notes/memory/robin").mkdir(parents=True, exist_ok=True)
    (root / "state").mkdir(mode=0o700, exist_ok=True)
    (root / "probe.py").write_text(_PROBE)
    script = " && ".join([*setup, f"exec {sys.executable} {root}/probe.py {root}"])
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {line.split(" | ")[0]: line.split(" | ")[1:] for line in done.stdout.splitlines()}


needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="limits and disks of one's own need root and unshare"
)


@needs_namespaces
@pytest.mark.parametrize("what", ["instances", "watches"])
def test_inotify_that_is_used_up_is_told_with_the_sysctl(tmp_path, what):
    """The system's own refusal, in a user namespace whose limit is 0."""
    found = _inside(tmp_path, f"echo 0 > /proc/sys/user/max_inotify_{what}")["inotify"]

    assert found[0] == "warn"
    assert f"fs.inotify.max_user_{what}=" in found[2]


@needs_namespaces
@pytest.mark.parametrize(("size", "state"), [("20m", "fail"), ("200m", "warn")])
def test_a_small_disk_is_told(tmp_path, size, state):
    """A disk of 20 MB fails, one of 200 MB warns."""
    found = _inside(tmp_path, f"mount -t tmpfs -o size={size},mode=700 tmpfs {tmp_path}/state")["disk"]

    assert found[0] == state


def test_too_few_watches_for_the_folders_are_told(tmp_path, monkeypatch):
    """Three folders, two watches left."""
    (tmp_path / "notes/memory/robin/deep").mkdir(parents=True)
    (tmp_path / "limits").mkdir()
    (tmp_path / "limits/max_user_watches").write_text("12\n")
    monkeypatch.setattr(doctor_places, "_INOTIFY", tmp_path / "limits")
    monkeypatch.setattr(doctor_places, "_watches_in_use", lambda: 10)
    places = doctor_places.Places("default", tmp_path, tmp_path, tmp_path, tmp_path, tmp_path / "notes")

    found = doctor_places._inotify(places, watching=False)

    assert found.state == "warn"
    assert "4 folders" in found.message
    assert "sysctl fs.inotify.max_user_watches=28" in found.fix
