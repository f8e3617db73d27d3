"""One file linked with what it asks written down, as it is stored; and its questions to ecosystems, asked again."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from controller.graph.language import family_of
from controller.graph.link import link_file
from controller.graph.store.stored import StoredWorld, digest
from controller.graph.world import Trace

Stored = Mapping[str, Any]
"""The link of a file as it is stored: e(dges), g(uesses), h(oles), t(race: what was asked, by home)."""

OF_ECOSYSTEMS = frozenset("psg")
"""First letters of questions to an ecosystem."""


def linked_here(world: StoredWorld, paths: Iterable[str]) -> dict[str, Any]:
    """Link files for another process: the links, what ecosystems answered by home, and who looked at imports."""
    links = {path: traced(world, path) for path in paths}
    answers: dict[str, dict[str, Any]] = {}
    for home, question in questions_of(links.values()):
        if question[:1] in OF_ECOSYSTEMS:
            answers.setdefault(home, {})[question] = remembered(world, home, question)
    return {"links": links, "answers": answers, "looked": [f for f, each in world.imported.items() if each.looked]}


def traced(world: StoredWorld, path: str) -> Stored:
    """Link one file, and return it as it is stored, with what it asked."""
    trace: Trace = set()
    world.trace = trace
    try:
        found = link_file(world, path)
    finally:
        world.trace = None
    asked: dict[str, list[str]] = {}
    for home, letter, name in trace:
        if home != path or letter in OF_ECOSYSTEMS:  # what it says itself changes with itself
            asked.setdefault(home, []).append(_written(letter, name))
    cut = len(path) + 2
    return {
        "e": [[each.source[cut:], each.target, each.kind, each.line, each.via] for each in found.edges],
        "g": [list(each) for each in found.guesses],
        "h": sorted(list(each) for each in found.holes),
        "t": {home: sorted(questions) for home, questions in asked.items()},
    }


def _written(letter: str, name: str) -> str:
    return f"{letter}\t{name}" if letter[:1] == "n" else f"{letter}{name}"


def asked_as(question: str) -> tuple[str, str]:
    """Return letter and name of a question as it is stored."""
    if question[:1] == "n":
        letter, _, name = question.partition("\t")
        return letter, name
    return question[:1], question[1:]


def family_at(home: str) -> tuple[str, str]:
    """Return the family that answers for a home, and the home as it calls it."""
    if home.endswith("/"):
        family, _, start = home.partition(":")
        return family, start
    return family_of(home), home


def answered(world: StoredWorld, home: str, question: str) -> Any:
    """Let an ecosystem answer, and return that as it is stored."""
    family, start = family_at(home)
    plain = world.plain(family)
    if question[:1] == "p":
        return plain.place(question[1:], home)
    if question[:1] == "s":
        return plain.submodule(start, question[1:])
    return digest(plain.members(start) if start.endswith("/") else plain.beside(start))


def remembered(world: StoredWorld, home: str, question: str) -> Any:
    """Return what an ecosystem answered when a file was linked, as it is stored."""
    known = world.remembered.get(home, {})
    if question in known:
        return known[question]
    family, start = family_at(home)
    if question[:1] == "p":
        return world.place(family, question[1:], home)
    if question[:1] == "s":
        return world.submodule(family, start, question[1:])
    return digest(world.group(family, start))


def questions_of(links: Iterable[Stored]) -> Iterator[tuple[str, str]]:
    """Yield home and question of everything that links asked."""
    return ((home, each) for link in links for home, questions in link.get("t", {}).items() for each in questions)
