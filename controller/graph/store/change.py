"""From the state of one tree to that of another: what must be linked again, and what that changes on the shelves.

A file is linked again when it changed, or when an answer to something that it asked did. A whole tree is the change of
the empty one, so there is one way only.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

from controller.graph.facts import NOTHING, FileFacts
from controller.graph.language import family_of, kind_of
from controller.graph.store.crew import MANY
from controller.graph.store.moves import Moves
from controller.graph.store.reading import Reading
from controller.graph.store.shelf import Shelf, place
from controller.graph.store.state import Family, State
from controller.graph.store.stored import StoredWorld, leaf, modules_of, parted
from controller.graph.store.traced import (
    OF_ECOSYSTEMS,
    Stored,
    answered,
    asked_as,
    family_at,
    questions_of,
    remembered,
    traced,
)
from controller.graph.world import answer, said


class Changed(NamedTuple):
    """One file before and after; None: it is not there."""

    before: FileFacts | None
    after: FileFacts | None


def changed(
    before: State, world: StoredWorld, entries: Mapping[str, str | None], reading: Reading
) -> tuple[StoredWorld, int]:
    """Return the world of the tree in which these paths have these blobs instead, and how many files were linked.

    A blob is empty for what is not read, and None for what is gone. Raises Lost.
    """
    return _Change(before, world, entries, reading).made()


class _Change:
    def __init__(self, before: State, world: StoredWorld, entries: Mapping[str, str | None], reading: Reading) -> None:
        self.old = world
        self.before = before
        self.entries = entries
        self.reading = reading
        self.files = {path: self._both(path, blob) for path, blob in entries.items()}
        self.moved: set[str] = set()
        self.again: set[str] = {path for path, blob in entries.items() if blob is not None}

    def _both(self, path: str, blob: str | None) -> Changed:
        after = None if blob is None else self.reading.surface(kind_of(path), blob) if blob else NOTHING
        return Changed(self.old.file(path), after)

    def made(self) -> tuple[StoredWorld, int]:
        shelves = dict(self.before.shelves)
        shelves["files"] = self._roomy("files", len(self.entries)).replaced(
            {path: None if blob is None else [blob, ""] for path, blob in self.entries.items()}
        )
        shelves["settings"] = self._roomy("settings", 0).replaced(self._settings())
        shelves["modules"] = self._roomy("modules", 0).replaced(modules := self._modules())
        shelves["names"] = self._names(self._roomy("names", 4 * len(self.entries)))
        state = State(self.before.chunks, shelves, self._families())
        new = StoredWorld(state, self.reading)
        self._ecosystems(new, modules)
        self._asked_of_files(new)
        linked = self._linked(new, sorted(path for path in self.again if new.entry(path) is not None))
        return new.settled(_Shelves(self, new, linked).state()), len(linked)

    def _linked(self, new: StoredWorld, paths: list[str]) -> Mapping[str, Stored]:
        found = self.reading.linked(new.state, paths) if len(paths) >= MANY else None
        if found is None:
            return {path: traced(new, path) for path in paths}
        for part in found:
            for home, answers in part["answers"].items():
                new.remembered.setdefault(home, {}).update(answers)
            new.looked.update(part["looked"])
        return {path: link for part in found for path, link in part["links"].items()}

    def _roomy(self, name: str, coming: int) -> Shelf:
        return self.before.shelves[name].roomy(coming)

    # --- what changed files say

    def _settings(self) -> dict[str, dict[str, str] | None]:
        return {
            path: dict(each.after.settings) if each.after and each.after.settings else None
            for path, each in self.files.items()
            if (each.before or NOTHING).settings or (each.after or NOTHING).settings
        }

    def _modules(self) -> dict[str, int | None]:
        counts: dict[str, int] = {}
        for path, each in self.files.items():
            family = family_of(path)
            for facts, by in ((each.before, -1), (each.after, 1)):
                for key in modules_of(family, facts) if facts and family else ():
                    counts[key] = counts.get(key, 0) + by
        known = {key: (self.before.modules.get(key) or 0) + by for key, by in counts.items() if by}
        return {key: count or None for key, count in known.items()}

    def _families(self) -> dict[str, Family]:
        families = dict(self.before.families)
        for path, each in self.files.items():
            if family := family_of(path):
                by = (each.after is not None) - (each.before is not None)
                known = families.get(family, Family())
                families[family] = replace(known, count=known.count + by)
        return families

    def _names(self, shelf: Shelf) -> Shelf:
        """Note under which names the changed files say something now; who asked about such a name is linked again."""
        for each in self.files.values() if self.before.asked.count else ():
            for name in said(each.before or NOTHING).keys() ^ said(each.after or NOTHING).keys():
                self._relink(f"~{name}", "")
        moves = Moves()
        for number, paths in self.numbered(self.files).items():
            both = [self.files[path] if path in self.files else Changed(*[self.old.file(path)] * 2) for path in paths]
            moves.move(number, _names_of(each.before for each in both), _names_of(each.after for each in both))
        return shelf.replaced(moves.applied(shelf))

    def numbered(self, paths: Iterable[str]) -> dict[int, list[str]]:
        """Return these paths by their number, with those of the tree before that share it."""
        found: dict[int, set[str]] = {}
        for path in paths:
            found.setdefault(place(path), set()).add(path)
        return {number: sorted(some.union(self.before.paths(number))) for number, some in found.items()}

    # --- whose answers changed

    def _relink(self, home: str, question: str) -> None:
        """Link those again that asked this."""
        known = self.before.asked.get(home)
        self.again.update(self.before.all_paths(known.get(question, ()) if known else ()))

    def _asked_of_files(self, new: StoredWorld) -> None:
        """Look at every question that was asked of a changed file."""
        for path in self.files:
            for question in self.before.asked.get(path) or ():
                if question[:1] in OF_ECOSYSTEMS:
                    continue
                letter, name = asked_as(question)
                if answer(self.old, path, letter, name) != answer(new, path, letter, name):
                    self._relink(path, question)

    def _ecosystems(self, new: StoredWorld, modules: Mapping[str, int | None]) -> None:
        """Ask the ecosystems again whose answers may have changed; the others are taken over."""
        for family in new.state.families:
            if not self._may_move(family, new, modules):
                if family in self.old._ecosystems:  # noqa: SLF001 - a world takes over from its neighbour
                    new._ecosystems[family] = self.old._ecosystems[family]  # noqa: SLF001
                    if family in self.old.imported:
                        new.imported[family] = self.old.imported[family]
                continue
            self.moved.add(family)
        if self.moved:
            answers = self._asked_again(new)
            shelves = {**new.state.shelves, "answers": new.state.answers.replaced(answers)}
            new.state = replace(new.state, shelves=shelves)

    def _may_move(self, family: str, new: StoredWorld, modules: Mapping[str, int | None]) -> bool:
        known = self.before.families.get(family)
        if known is None or not known.count:
            return False
        home = import_module(f"controller.graph.languages.{family}.ecosystem")
        heeds, stirs = getattr(home, "heeds", None), getattr(home, "stirs", None)
        for path, each in self.files.items():
            if (each.before is None) != (each.after is None) and (heeds is None or heeds(path)):
                return True
            if family_of(path) == family and (each.before or NOTHING).settings != (each.after or NOTHING).settings:
                return True
        start = f"{family}\t"
        came = {
            key[len(start) :]
            for key, count in modules.items()
            if key.startswith(start) and (count is None) != (self.before.modules.get(key) is None)
        }
        if not came or not self.looked(family, known):
            return False
        return stirs is None or bool(stirs(new.files(family), came))

    def looked(self, family: str, known: Family) -> bool:
        watched = self.old.imported.get(family)
        return known.heeds_imported or family in self.old.looked or (watched is not None and watched.looked)

    def _asked_again(self, new: StoredWorld) -> dict[str, dict[str, Any] | None]:
        """Ask every question of the moved ecosystems again, and return the answers that are others now, by home."""
        answers: dict[str, dict[str, Any] | None] = {}
        for home, known in self.before.answers.items():
            if family_at(home)[0] not in self.moved:
                continue
            if not home.endswith("/") and new.entry(home) is None:
                answers[home] = None
                for question in known:
                    self._relink(home, question)
                continue
            fresh = {question: answered(new, home, question) for question in known}
            for question in [each for each in known if fresh[each] != known[each]]:
                answers[home] = fresh
                self._ask_moved(new, home, question)
        return answers

    def _ask_moved(self, new: StoredWorld, home: str, question: str) -> None:
        if question != "g":
            self._relink(home, question)
            return
        family, start = family_at(home)
        old, now = (world.plain(family) for world in (self.old, new))
        before, after = (each.members(start) if start.endswith("/") else each.beside(start) for each in (old, now))
        if not before or not after:
            self._relink(home, question)
        shared = set(before) & set(after)
        same_order = [each for each in before if each in shared] == [each for each in after if each in shared]
        for path in set(before) ^ set(after) if same_order else {*before, *after}:
            for facts in (self.old.file(path), new.file(path)):
                for name in said(facts) if facts else ():
                    self._relink(f"~{name}", "")


class _Shelves:
    """What links that were made again change on the shelves."""

    def __init__(self, change: _Change, new: StoredWorld, linked: Mapping[str, Stored]) -> None:
        self.change = change
        self.before = change.before
        self.new = new
        self.linked = linked

    def state(self) -> State:
        gone = [path for path, each in self.change.files.items() if each.after is None]
        asked, users, names = Moves(), Moves(), Moves()
        for number, paths in self.change.numbered((*gone, *self.linked)).items():
            old = [self.before.link(path) for path in paths]
            new = [self._now(path, known) for path, known in zip(paths, old, strict=True)]
            asked.move(number, questions_of(old), questions_of(new))
            users.move(number, _targets(old), _targets(new))
            names.move(number, _guesses(old), _guesses(new))
        keys: dict[str, list[str]] = {}
        for path, made in self.linked.items():
            if entry := self.new.entry(path):
                keys[path] = [entry[0], self.before.chunks.add(made).hex()]
        shelves = dict(self.new.state.shelves)
        shelves["files"] = shelves["files"].replaced(keys)
        shelves["users"] = shelves["users"].roomy(len(keys))
        shelves["users"] = shelves["users"].replaced(users.applied(shelves["users"]))
        shelves["names"] = shelves["names"].replaced(names.applied(shelves["names"]))
        shelves["asked"] = shelves["asked"].roomy(len(keys))
        wanted = asked.applied(shelves["asked"])
        shelves["answers"] = shelves["answers"].roomy(len(keys))
        shelves["answers"] = shelves["answers"].replaced(self._answers(shelves, wanted))
        shelves["asked"] = shelves["asked"].replaced(wanted)
        families = {
            name: replace(each, heeds_imported=self.change.looked(name, each) or self._looks(name))
            for name, each in self.new.state.families.items()
            if each.count
        }
        return State(self.before.chunks, shelves, families)

    def _now(self, path: str, before: Stored) -> Stored:
        each = self.change.files.get(path)
        return {} if each and each.after is None else self.linked.get(path, before)

    def _looks(self, family: str) -> bool:
        watched = self.new.imported.get(family)
        return family in self.new.looked or (watched is not None and watched.looked)

    def _answers(self, shelves: Mapping[str, Shelf], asked: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the answers of ecosystems to what is asked, and no others."""
        changes: dict[str, Any] = {}
        for home, questions in asked.items():
            known = shelves["answers"].get(home) or {}
            wanted = [question for question in questions or () if question[:1] in OF_ECOSYSTEMS]
            if known.keys() == set(wanted):
                continue
            fresh = {each: known[each] if each in known else remembered(self.new, home, each) for each in wanted}
            changes[home] = fresh or None
        return changes


def _targets(links: Iterable[Stored]) -> Iterator[tuple[str, str]]:
    for link in links:
        for edge in link.get("e", ()):
            yield parted(edge[1])


def _guesses(links: Iterable[Stored]) -> Iterator[tuple[str, str]]:
    return ((each[1], "g") for link in links for each in link.get("g", ()))


def _names_of(files: Iterable[FileFacts | None]) -> Iterator[tuple[str, ...]]:
    for facts in files:
        for name in said(facts) if facts else ():
            yield leaf(name), "s", name
        for each in facts.definitions if facts else ():
            yield leaf(each.qual), "d"
            if each.kind == "method":
                yield leaf(each.qual), "m"
