"""What looks like a shell command: in code spans, behind `$`, in fences, on lines of their own."""

import re

from .cues import word_set

_SURE = word_set(
    """
    git npm npx pnpm yarn pip pip3 pipx uv uvx docker docker-compose podman kubectl helm curl wget rsync scp ssh
    brew apt apt-get dnf yum pacman apk cargo rustup systemctl journalctl launchctl huggingface-cli hf ollama
    turso sqlite3 psql mysql redis-cli gcloud terraform ansible ansible-playbook chmod chown mkdir crontab tmux
    certbot openssl ffmpeg ffprobe jq deno bun poetry conda mamba virtualenv pytest mypy ruff tox eslint tsc vite
    webpack gradle mvn dotnet nvidia-smi nohup sudo ln sed awk grep xargs tar unzip gunzip kill pkill lsof netstat
    ss dig nslookup ping traceroute ufw iptables memoryd openclaw clawhub gh glab aws az wrangler vercel fly
    flyctl heroku netlify supabase adb xcodebuild swift pod gem bundle rails rake composer php artisan loginctl
    pm2 node python python3 make cmake go java javac
    """
)
_VAGUE = word_set(
    """
    cd ls cat cp mv rm echo export source find tail head touch bash sh zsh less vim nano set test time watch
    """
)
_SUBCOMMANDS = word_set(
    """
    install uninstall add remove run build test start stop restart status enable disable clone pull push commit
    checkout fetch merge rebase log diff tag init login logout deploy apply get describe logs exec up down compose
    update upgrade list ls ps rm create delete download upload sync publish audit config set show search serve dev
    lint format check reload daemon-reload rollback tree
    """
)
_PROSE = re.compile(
    r"\b(?:is|was|are|were|the|an?|and|but|because|that|which|failed|works?|again|should|could|would|must|needs?"
    r"|has|have|will|sure)\b"
    r"|[.!?。！？；，]\s*$|[\u3400-\u9fff]",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"\s*(?:[\w.-]+@[\w.-]+[:~ /\w.-]*)?[$❯➜]\s+(?=\S)")
_SHELL = frozenset(
    {"sh", "bash", "zsh", "shell", "console", "shell-session", "fish", "powershell", "ps1", "terminal", "cmd", "bat"}
)
_START = re.compile(r"(?:sudo\s+|time\s+|nohup\s+|[A-Z_][A-Z0-9_]*=\S*\s+)*(?P<name>[\w./~-]+)")
_FENCE_LINES = 200
_LONGEST = 2_000


def commands_in_line(line: str) -> list[str]:
    """The command of a line of plain words: behind a `$`, or the whole line if nothing in it is prose."""
    text = line.strip()
    if not text or len(text) > _LONGEST:
        return []
    prompt = _PROMPT.match(text)
    if prompt is not None and re.match(r"[A-Za-z./~_]", text[prompt.end() :]):
        return [text[prompt.end() :].strip()]
    name = text.split(None, 1)[0]
    if name not in _SURE or " " not in text:
        return []
    words = text.split()
    telling = (
        any((word.startswith("-") and len(word) > 1) or "/" in word for word in words[1:]) or words[1] in _SUBCOMMANDS
    )
    return [text] if telling and not _PROSE.search(re.sub(r"(?<!\S)\S+?://\S+", "", text)) else []


def commands_in_span(span: str) -> list[str]:
    """The command of a code span, or none: `MEMORY.md`, `settings.conf` and `x = 1` are not commands."""
    text = span.strip()
    if (prompt := _PROMPT.match(text)) is not None:
        return [text[prompt.end() :]]
    match = _START.match(text)
    if match is None or len(text) > _LONGEST:
        return []
    name, arguments = match["name"], text[match.end() :]
    if not arguments.startswith((" ", "\t")) or not arguments.strip():
        return [text] if re.fullmatch(r"\./[\w./-]+\.(?:sh|py)", text) else []
    if arguments.lstrip()[0] in "=:," or re.search(r"[\u3400-\u9fff]", name):
        return []
    if name in _SURE or name in _VAGUE or name.startswith(("./", "~/")):
        return [text]
    return (
        [text]
        if re.search(r"(?:^|\s)--?[A-Za-z][\w-]*(?:[ =]|$)", arguments) and re.fullmatch(r"[a-z][\w.-]*", name)
        else []
    )


def commands_in_fence(code: str, info: str) -> list[str]:
    """The commands of a fence in a shell language or in none; lines that end in a backslash are joined."""
    if info and info not in _SHELL:
        return []
    found: list[str] = []
    lines = re.sub(r"\\\r?\n\s*", "", code).split("\n")[:_FENCE_LINES]
    prompted = any(_PROMPT.match(line) for line in lines)
    for line in lines:
        text = line.strip()
        if prompted:
            prompt = _PROMPT.match(line)
            found += [line[prompt.end() :].strip()] if prompt else []
        elif text and not text.startswith("#"):
            found += _in_fence(text, sure=bool(info))
    return found


def _in_fence(text: str, *, sure: bool) -> list[str]:
    match = _START.match(text)
    if match is None or len(text) > _LONGEST:
        return []
    name = match["name"]
    known = name in _SURE or name in _VAGUE or name.startswith(("./", "~/"))
    if sure:
        return [text] if known or re.match(r"[a-z][\w.-]*(?:\s+\S|$)", text[match.start("name") :]) else []
    return [text] if known and not _PROSE.search(text) else []
