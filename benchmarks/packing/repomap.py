"""Runs in an environment where aider-chat is installed, never in ours: makes repo maps and counts tokens.

Reads one JSON object a line: `{"count": text}`, or `{"root", "files", "chat", "message", "budget"}` with paths relative
to the root. Answers each with a line: `{"tokens"}`, and `{"map"}` where one was asked for.
"""

import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_LONG = 5
"""A word of a message names a file by its stem from this length on, as aider has it."""


class Tokenizer:
    """cl100k_base, from the copy that one of aider's dependencies brings: nothing is downloaded."""

    def __init__(self) -> None:
        spec = find_spec("litellm")
        folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"  # type: ignore[union-attr,arg-type]
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
        import tiktoken

        self._encoding = tiktoken.get_encoding("cl100k_base")

    def token_count(self, text: str) -> int:
        """Return how many tokens a text is; aider asks for it by this name."""
        return len(self._encoding.encode(text, disallowed_special=()))


class Silent:
    """What aider would tell its user."""

    def tool_output(self, *_: Any, **__: Any) -> None:
        """Say nothing."""

    tool_warning = tool_error = tool_output

    def read_text(self, name: str, **_: Any) -> str:
        """Return a file as aider reads it."""
        return Path(name).read_text("utf-8", "replace")


def mentions(message: str, files: list[str]) -> tuple[set[str], set[str]]:
    """Return the files and the identifiers that a message mentions, found in the way of aider's own chat."""
    idents = set(re.split(r"\W+", message))
    words = {word.rstrip(",.!;:?").strip("\"'`*_") for word in message.split()}
    stems: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    for path in files:
        stems.setdefault(Path(path).stem.lower(), set()).add(path)
        names.setdefault(Path(path).name, set()).add(path)
    found = {path for path in files if path in words}
    for name, paths in names.items():
        if len(paths) == 1 and name in words and re.search(r"[/\\._-]", name):
            found |= paths
    for ident in idents:
        if len(ident) >= _LONG:
            found |= stems.get(ident.lower(), set())
    return found, idents


def repo_map(job: dict[str, Any], tokenizer: Tokenizer) -> str:
    """Return aider's map of a checkout; the files of the module are the files in its chat."""
    from aider.repomap import RepoMap

    root = Path(job["root"])
    made = RepoMap(map_tokens=job["budget"], root=str(root), main_model=tokenizer, io=Silent(), refresh="always")
    files = [path for path in job["files"] if (root / path).is_file()]
    chat = {str(root / path) for path in job["chat"] if (root / path).is_file()}
    everything = {str(root / path) for path in files}
    named, idents = mentions(job["message"], [path for path in files if str(root / path) not in chat])
    found = made.get_repo_map(chat, everything - chat, named, idents)
    return found or made.get_repo_map(set(), everything, named, idents) or made.get_repo_map(set(), everything) or ""


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # aider shows its progress on standard output
    tokenizer = Tokenizer()
    for line in sys.stdin:
        job = json.loads(line)
        answer: dict[str, Any] = {}
        if "root" in job:
            answer["map"] = repo_map(job, tokenizer)
        answer["tokens"] = tokenizer.token_count(answer.get("map", job.get("count", "")))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
