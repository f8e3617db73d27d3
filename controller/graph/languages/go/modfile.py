"""What `go.mod` and `go.work` say, read by line as the go command does; what is no statement is passed over."""

import re

from controller.graph.facts import FileFacts

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|[^\s()"`]+|[()]')
_REPLACED = re.compile(r"^(\S+)(?: +\S+)? +=> +(\S+)(?: +\S+)?$")
_LINES = 20_000
SEPARATOR = "\n"
"""Between the entries of one setting."""


def read(blob: bytes) -> FileFacts:
    """Return `module`, `require` (paths), `replace` (`old => new`, versions dropped) and `use` (folders)."""
    said: dict[str, list[str]] = {}
    block = ""
    for line in blob.decode("utf-8", "replace").splitlines()[:_LINES]:
        words = [_bare(word) for word in _TOKEN.findall(line.partition("//")[0])]
        if not words:
            continue
        if words[0] == ")":
            block = ""
        elif words[-1] == "(" and len(words) == 2:  # noqa: PLR2004 - `require (`
            block = words[0]
        elif block:
            said.setdefault(block, []).append(" ".join(words))
        else:
            said.setdefault(words[0], []).append(" ".join(words[1:]))
    found = {
        "module": said.get("module", [])[:1],
        "require": [entry.partition(" ")[0] for entry in said.get("require", [])],
        "replace": [
            f"{match[1]} => {match[2]}" for entry in said.get("replace", []) if (match := _REPLACED.match(entry))
        ],
        "use": said.get("use", []),
    }
    return FileFacts(settings=tuple((key, SEPARATOR.join(entries)) for key, entries in found.items() if any(entries)))


def _bare(word: str) -> str:
    return word[1:-1] if word[0] in '"`' and len(word) > 1 else word
