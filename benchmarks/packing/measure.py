"""One repository: its commits one after the other, each as a packet and as a repo map."""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packing import history
from packing.history import Commit, Needed
from packing.place import Aider, cloned

from controller.blocks import block
from controller.graph import Knowledge
from controller.graph.excerpts.tokens import tokens
from packets.packet import GraphExcerpt
from packets.plan import Plan
from sandbox.git import Git

Parts = Mapping[str, set[str]]
"""The words that a text has about each file."""


@dataclass
class Tally:
    """What was needed and held; `held` by (kind of need, who)."""

    repository: Path
    commits: int = 0
    needed: dict[str, int] = field(default_factory=lambda: {"linked": 0, "named": 0})
    held: dict[tuple[str, str], int] = field(default_factory=dict)
    spent: dict[str, list[int]] = field(default_factory=lambda: {"packet": [], "map": []})
    estimates: list[float] = field(default_factory=list)

    def spend(self, packet: int, drawn: int, estimated: int) -> None:
        """Count a commit, and the tokens of its two texts."""
        self.commits += 1
        self.spent["packet"].append(packet)
        self.spent["map"].append(drawn)
        self.estimates.append(estimated / packet)

    def add(self, kind: str, who: str, need: Needed, parts: Parts) -> int:
        """Count what of a need is held, and return how much of it."""
        found = sum(any(name in parts.get(home, ()) for home in homes) for name, homes in need)
        self.needed[kind] += len(need) * (who == "packet")
        self.held[kind, who] = self.held.get((kind, who), 0) + found
        return found

    def recall(self, kind: str, who: str) -> float:
        """Return the share of all needed symbols of the repository that were held."""
        return self.held.get((kind, who), 0) / max(1, self.needed[kind])

    @property
    def ahead(self) -> bool:
        """Packets hold more than maps, at no more tokens."""
        more = all(self.recall(kind, "packet") > self.recall(kind, "map") for kind in self.needed)
        return more and sum(self.spent["packet"]) <= sum(self.spent["map"]) * 1.02

    def lines(self) -> Iterator[str]:
        """Say it."""
        name = "/".join(self.repository.resolve().parts[-2:])
        yield f"{name}: {self.commits} commits"
        for who in ("packet", "map"):
            mean = sum(self.spent[who]) / max(1, len(self.spent[who]))
            shares = ", ".join(
                f"{kind} {self.held.get((kind, who), 0)}/{of} = {self.recall(kind, who):.0%}"
                for kind, of in self.needed.items()
            )
            yield f"  {who:<6}  {shares}; {mean:.0f} tokens on average, at most {max(self.spent[who], default=0)}"
        if self.estimates:
            least, most = min(self.estimates), max(self.estimates)
            yield f"  estimated tokens / counted tokens of the packets: {least:.2f} to {most:.2f}"
        yield f"  packets are {'ahead' if self.ahead else 'NOT ahead'} of repo maps"


class Measuring:
    """Measures the newest commits of a repository that need something."""

    def __init__(self, tally: Tally, aider: Aider, given: argparse.Namespace) -> None:
        self.tally, self.aider, self.given = tally, aider, given
        self.folder = cloned(tally.repository, given.place)
        self.defined: dict[str, dict[str, set[str]]] = {}  # by blob

    def lines(self) -> Iterator[str]:
        """Yield a line for each commit, as it is measured."""
        with Git.discover(self.folder) as git:
            knowledge = Knowledge(git, self.given.place / f"{self.folder.name}.db")
            for commit in history.commits(self.folder, self.given.start):
                if self.tally.commits >= self.given.commits:
                    return
                needs = self._needs(knowledge, commit)
                if needs["named"]:
                    yield self._one(knowledge, commit, needs)

    def _needs(self, knowledge: Knowledge, commit: Commit) -> dict[str, Needed]:
        """Return what the commit needs, in both ways; the cheap one first, without which nothing is measured."""
        base, head = (knowledge.git.tree(each) for each in (commit.parent, commit.sha))
        before, after = _texts(knowledge.git, base, head)
        needs = {"linked": Needed(), "named": history.named(before, after, self._places(knowledge.git, base, commit))}
        if needs["named"]:
            mentioned = {word for source in before.values() for word in history.words(source)}
            edges = [edge for path in commit.sources for edge in knowledge.graph(head).edges_of(path)]
            needs["linked"] = history.linked(commit, knowledge.graph(base), edges, mentioned)
        return needs

    def _places(self, git: Git, tree: str, commit: Commit) -> dict[str, set[str]]:
        """Return in which files outside of the commit's own each name is defined."""
        entries = {path: entry.blob for path, entry in git.entries(tree).items() if path.endswith(".py")}
        for blob, data in git.blobs(sorted(set(entries.values()) - self.defined.keys())):
            self.defined[blob] = history.definitions({"": data.decode("utf-8", "replace")})
        places: dict[str, set[str]] = {}
        for path, blob in entries.items():
            if path not in commit.paths:
                for name in self.defined[blob]:
                    places.setdefault(name, set()).add(path)
        return places

    def _one(self, knowledge: Knowledge, commit: Commit, needs: dict[str, Needed]) -> str:
        history.ask(self.folder, "checkout", "-q", "-f", commit.parent)
        tree, plan = knowledge.git.tree(commit.parent), plan_of(commit, self.given.budget)
        excerpt = knowledge.excerpt(tree, plan, plan.module("M"))
        written = block({"graph_excerpt": excerpt.model_dump(mode="json")})
        files, message = sorted(knowledge.git.entries(tree)), f"{commit.subject}\n{commit.body}"
        drawn, spent = self.aider.repo_map(self.folder, files, commit.paths, message, self.given.budget)
        counted = self.aider.tokens(written)
        self.tally.spend(counted, spent, tokens(written))
        parts = {"packet": of_packet(excerpt), "map": of_map(drawn)}
        told = [commit.sha[:10]]
        for kind, need in needs.items():
            found = {who: self.tally.add(kind, who, need, each) for who, each in parts.items()}
            told.append(f"{kind} {len(need)}: packet {found['packet']} map {found['map']}")
        told += [f"{counted}/{spent} tokens", commit.subject[:60]]
        if self.given.verbose:
            told += [
                f"\n    {name}: {' '.join(_holders(name, homes, parts))}" for name, homes in sorted(needs["named"])
            ]
        return "  ".join(told)


def _texts(git: Git, base: str, head: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the changed Python files as they were, and as they are."""
    changes = [change for change in git.changes(base, head) if change.path.endswith(".py")]
    found = []
    for blobs in ({c.path: c.old_blob for c in changes}, {c.path: c.new_blob for c in changes}):
        there = {path: blob for path, blob in blobs.items() if blob and blob.strip("0")}
        read = dict(git.blobs(sorted(set(there.values()))))
        found.append({path: read[blob].decode("utf-8", "replace") for path, blob in there.items()})
    return found[0], found[1]


def _holders(name: str, homes: frozenset[str], parts: Mapping[str, Parts]) -> list[str]:
    return [who for who, each in parts.items() if any(name in each.get(home, ()) for home in homes)]


def plan_of(commit: Commit, budget: int) -> Plan:
    """Write the commit as a plan of one module."""
    notes = [line.strip() for line in commit.body.splitlines() if line.strip()]
    scope = [re.sub(r"([*?\[\]\\])", r"\\\1", path) for path in commit.paths]
    module = {"id": "M", "purpose": commit.subject.strip(), "notes": notes, "write_scope": scope}
    written = {
        "version": 1, "name": "bench", "packet_tokens": budget, "agents": {"a": {"kind": "command", "run": ["true"]}},
        "phases": [{"id": "p", "modules": [module]}],
    }  # fmt: skip
    return Plan.model_validate_json(json.dumps(written))


def of_packet(excerpt: GraphExcerpt) -> Parts:
    """Return the words of the surface by file; the lines of dependents are not counted."""
    found: dict[str, set[str]] = {}
    for each in excerpt.surface:
        path = each.at.rpartition(":")[0]
        name = "" if each.symbol == path else each.symbol.rpartition(".")[2]
        found.setdefault(path, set()).update(history.words(f"{name} {each.signature}\n{each.lines}"))
    return found


def of_map(drawn: str) -> Parts:
    """Return the words of a repo map by file."""
    found: dict[str, set[str]] = {}
    path = ""
    for line in drawn.splitlines():
        if line.endswith(":") and line[:1] not in ("│", "⋮", " "):
            path = line[:-1]
        elif path:
            found.setdefault(path, set()).update(history.words(line))
    return found
