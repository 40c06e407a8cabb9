"""URLs, commands and paths, and what is none (docs/memory.md, 2, docs/original.md)."""

import pytest
from memoryd.ingest.metadata import extract


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see https://docs.example.org/falcon_(v2)?a=1", ["https://docs.example.org/falcon_(v2)?a=1"]),
        ("(see https://en.example.org/wiki/Foo_(bar))", ["https://en.example.org/wiki/Foo_(bar)"]),
        ("at https://a.example/x, https://b.example/y.", ["https://a.example/x", "https://b.example/y"]),
        ("见https://a.example/x的文档", ["https://a.example/x"]),
        ("（https://a.example/x）。", ["https://a.example/x"]),
        ("https://a.example/x?q=1&r=2#top!", ["https://a.example/x?q=1&r=2#top"]),
        ("www.example.org/a", ["www.example.org/a"]),
        ("docs at foo.example.org today", ["foo.example.org"]),
        ("github.com/acme/tool is it", ["github.com/acme/tool"]),
        ("http://localhost:8080/x", ["http://localhost:8080/x"]),
        ("libsql://db-me.turso.io", ["libsql://db-me.turso.io"]),
        ("edit settings.conf and MEMORY.md", []), ("install.sh, main.py, a.b", []),
        ("socket.io and Next.js and asp.net", []),
        ("mail mira@mail.example.org", []), ("version 1.2.3.4 of it", []), ("e.g. this, i.e. that", []),
    ],
)  # fmt: skip
def test_urls(text: str, urls: list[str]) -> None:
    """Addresses keep their brackets and lose the sentence's punctuation; file names are no addresses."""
    assert extract(text).urls == urls


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("edit /etc/hosts now", ["/etc/hosts"]), ("in ~/notes/x.md", ["~/notes/x.md"]),
        ("run ./configs/ltx-2.yaml", ["./configs/ltx-2.yaml"]),
        ("../up/one.txt", ["../up/one.txt"]), (r"C:\Users\mira\x.txt", [r"C:\Users\mira\x.txt"]),
        ("src/main.py fails", ["src/main.py"]),
        ("/home/mira/ai-stack/models", ["/home/mira/ai-stack/models"]),
        ("写到/var/log/app.log里", ["/var/log/app.log"]),
        ("on 2026/02/13", []), ("and/or", []), ("12/12 passed", []), ("use /help", []), ("https://a.example/x/y", []),
        ("km/h", []),
        ("w/o sugar", []),
    ],
)  # fmt: skip
def test_paths(text: str, paths: list[str]) -> None:
    """POSIX, home, relative and Windows paths are found; dates, fractions and slash commands are none."""
    assert extract(text).paths == paths


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("$ npm run build", ["npm run build"]), ("mira@kestrel:~$ ls -la", ["ls -la"]),
        ("pip install falcon", ["pip install falcon"]),
        ("git clone https://a.example/x.git", ["git clone https://a.example/x.git"]),
        ("docker compose up -d", ["docker compose up -d"]),
        ("git push failed again", []), ("make sure that it works", []), ("go home", []), ("find the keys", []),
        ("$ 20 for lunch", []),
        ("docker is great", []), ("npm install 之后重启", []),
    ],
)  # fmt: skip
def test_commands_in_lines(text: str, commands: list[str]) -> None:
    """Lines behind a prompt and whole command lines are commands; sentences are none."""
    assert extract(text).commands == commands


@pytest.mark.parametrize(
    ("span", "commands"),
    [
        ("git rebase -i main", ["git rebase -i main"]),
        ("sudo systemctl restart nginx", ["sudo systemctl restart nginx"]),
        ("./run.sh", ["./run.sh"]), ("acme-tool --dry-run", ["acme-tool --dry-run"]), ("$ ls", ["ls"]),
        ("MEMORY.md", []),
        ("settings.conf", []), ("x = 1", []), ("foo bar", []), ("HEAD", []), ("user_id", []), ("None", []),
    ],
)  # fmt: skip
def test_commands_in_code_spans(parse, span: str, commands: list[str]) -> None:
    """A code span is a command only if it looks like one."""
    assert parse(f"- note the `{span}` there\n").mentions[0].metadata.commands == commands


@pytest.mark.parametrize(
    ("fence", "commands"),
    [
        ("```sh\ncd x\n# why\nmake all\n```", ["cd x", "make all"]), ("```console\n$ ls -l\ntotal 0\n```", ["ls -l"]),
        ("```\nnpm ci\nadded 3 packages\n```", ["npm ci"]),
        ("```bash\ncurl -X POST \\\n  https://a.example\n```", ["curl -X POST https://a.example"]),
        ('```json\n{"a": 1}\n```', []), ("```python\nimport os\n```", []),
    ],
)  # fmt: skip
def test_commands_in_fences(parse, fence: str, commands: list[str]) -> None:
    """Shell fences give their commands to the block above; other languages give none."""
    assert parse(f"Done as follows\n\n{fence}\n").mentions[0].metadata.commands == commands


def test_lists_have_no_repeats_and_an_end() -> None:
    """The same URL counts once, and a thousand are cut at fifty."""
    text = " ".join(["https://a.example/1"] * 3 + [f"https://a.example/{n}" for n in range(1000)])

    urls = extract(text).urls

    assert len(urls) == len(set(urls)) == 50


def test_a_windows_path_may_have_either_slash() -> None:
    """`D:/data` is a path, a ratio and an address are none."""
    assert extract("in D:/data/x.csv and C:\\x\\y.txt").paths == ["D:/data/x.csv", "C:\\x\\y.txt"]
    assert extract("odds a:/b, https://a.example/x").paths == []
