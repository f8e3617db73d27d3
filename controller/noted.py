"""Decisions that somebody wrote into comments: @RATIONALE and @REJECTED, in the comments of any language."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from controller.graph.knowledge import readable
from controller.graph.territory import Territory
from packets.packet import GraphExcerpt, PacketDecisions
from packets.plan import Module, Plan
from packets.scope import Scope

if TYPE_CHECKING:
    from sandbox.git import Git

_MENTIONED = re.compile(rb"@(?:RATIONALE|REJECTED)")
_NOTE = re.compile(r"(?:#|//|--|;|%|\*|<!--)[ \t]*@(RATIONALE|REJECTED)\b[ \t:]*(.*)")
_MORE = re.compile(r"[ \t]*(?:#|//|--|;|%|\*)(?!/)[ \t]*([^@\s].*)")
_CLOSERS = re.compile(r"[ \t]*(?:\*/|-->)[ \t]*$")

_NOTE_MAX = 500
_NOTES_MAX = 40
_NEAR_MAX = 12
"""Notes of a kind from the scope's files, and from files near them."""

_NEAR_FILES = 40
_FILE_MAX = 1 << 20
_REGULAR = ("100644", "100755")


def noted(git: "Git", tree: str, plan: Plan, module: Module, excerpt: GraphExcerpt) -> PacketDecisions:
    """Return the notes of the scope's files, then those near it.

    Near are the files of the modules it may depend on, then those that its excerpt shows, in the excerpt's order.
    """
    own = notes(git, tree, Scope.parse(module.write_scope))
    around = _in_files(git, tree, _near(git, tree, plan, module, excerpt), _NEAR_MAX)
    return PacketDecisions(rationale=own.rationale + around.rationale, rejected=own.rejected + around.rejected)


def notes(git: "Git", tree: str, scope: Scope) -> PacketDecisions:
    """Return the notes in the scope's files, each with its place."""
    paths = sorted(path for path in map(readable, git.entries(tree)) if scope.matches(path))
    return _in_files(git, tree, paths, _NOTES_MAX)


def _near(git: "Git", tree: str, plan: Plan, module: Module, excerpt: GraphExcerpt) -> list[str]:
    territory, own = Territory(plan), Scope.parse(module.write_scope)
    entries = sorted(map(readable, git.entries(tree)))
    declared = [
        path for name in module.depends_on if name in territory.scopes for path in territory.files(name, entries)
    ]
    places = (*(each.at for each in excerpt.surface), *(each.at for each in excerpt.dependents))
    shown = (place.rpartition(":")[0] for place in places)
    return [path for path in dict.fromkeys([*declared, *shown]) if not own.matches(path)][:_NEAR_FILES]


def _in_files(git: "Git", tree: str, paths: Sequence[str], at_most: int) -> PacketDecisions:
    entries = {readable(path): entry for path, entry in git.entries(tree).items() if entry.mode in _REGULAR}
    wanted = {path: entries[path].blob for path in paths if path in entries}
    blobs = dict(git.blobs(sorted(set(wanted.values()))))
    found: dict[str, list[str]] = {"RATIONALE": [], "REJECTED": []}
    for path, blob in wanted.items():
        for line, kind, text in _in_comments(blobs[blob]):
            found[kind].append(f"{path}:{line} {text}")
    return PacketDecisions(rationale=tuple(found["RATIONALE"][:at_most]), rejected=tuple(found["REJECTED"][:at_most]))


def _in_comments(blob: bytes) -> Iterator[tuple[int, str, str]]:
    if len(blob) > _FILE_MAX or not _MENTIONED.search(blob):
        return
    lines = blob.decode("utf-8", "replace").split("\n")
    for number, line in enumerate(lines):
        if match := _NOTE.search(line):
            parts = [match[2]]
            alone = not line[: match.start()].strip(" \t/")
            for following in lines[number + 1 :] if alone else ():
                more = _MORE.fullmatch(following.rstrip())
                if not more or sum(map(len, parts)) > _NOTE_MAX:
                    break
                parts.append(more[1])
            text = " ".join(_CLOSERS.sub("", part).strip() for part in parts)
            yield number + 1, match[1], " ".join(text.split())[:_NOTE_MAX]


def joined(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return all lines, each once, so that they can stand in a packet."""
    return tuple(dict.fromkeys(readable(line) for group in groups for line in group))
