"""What the plan names for a module, looked up in one tree: expectations, declared modules, words of its prose."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from controller.graph.language import family_of
from controller.graph.names import Ambiguous, Found, Names
from packets.deltas import parse_graph
from packets.graph import Node
from packets.plan import Module

_MEANINGS = 6
"""A name with more meanings than this in prose names nothing."""

_TOKEN = re.compile(r"`([^`\s]+)`|([A-Za-z_][\w./:-]*)(\(?)")
_CODE = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]|\w_\w|^_\w|\w[./]\w|::")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SHORT = 3
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ers", "ed", "es", "er", "s", "e", "y")
_RUN = 4
"""Words in a row that may be parts of one name."""


def stem(word: str) -> str:
    """Return a word of English or of a name in lower case without its ending, as far as looks tell."""
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT:
            return word[: -len(ending)]
    return word


def parts(name: str) -> list[str]:
    """Return the stems of the words that a name is made of, in any usual spelling; short ones are left out."""
    return [stem(part) for part in _PARTS.findall(name) if len(part) >= _SHORT]


class Named:
    """The names of one module's plan entry. Nodes inside of the module's own files are left out by who asks."""

    def __init__(self, names: Names, module: Module) -> None:
        self.names = names
        self.module = module
        self.prose = "\n".join((module.purpose, *module.notes))

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Node ids of symbols that are named: by graph expectations first, then in prose as only code is written."""
        return tuple(each for each in self._named if "::" in each)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Files of the modules that this one may depend on, module by module; then files that are named."""
        territory, paths = self.names.territory, sorted(self.names.graph.by_path)
        known = (name for name in self.module.depends_on if name in territory.scopes)
        declared = [path for name in known for path in territory.files(name, paths) if family_of(path)]
        return tuple(dict.fromkeys([*declared, *(each for each in self._named if "::" not in each)]))

    @cached_property
    def _named(self) -> tuple[str, ...]:
        names = [*self._expected(), *self._tokens()]
        return tuple(dict.fromkeys(each for name in names for each in self._meant(name)))

    def _expected(self) -> Iterator[str]:
        for line in self.module.expected_deltas.graph:
            try:
                wanted = parse_graph(line)
            except ValueError:
                continue  # the plan's own check has named it
            yield from (name for name in (wanted.target, wanted.source) if name)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the prose and of the other expectations, as written."""
        lines = (self.prose, *self.module.expected_deltas.verification, *self.module.verification.required_markers)
        return frozenset(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words, those inside of compound names too."""
        return frozenset(part for word in self.words for part in parts(word))

    @cached_property
    def homes(self) -> tuple[str, ...]:
        """Files that hold a symbol which a word, or words in a row, of the prose may mean."""
        by_leaf = self.names.graph.by_leaf
        found: dict[str, None] = {}
        for name in self._spelled():
            nodes = by_leaf.get(name, ())
            if len(nodes) <= _MEANINGS:
                found.update(dict.fromkeys(node.path for node in nodes))
        return tuple(found)

    def _tokens(self) -> Iterator[str]:
        for match in _TOKEN.finditer(self.prose):
            quoted, bare, call = match.groups()
            token = (quoted or bare).strip(".:-/").removesuffix("()")
            if token and (quoted or call or _CODE.search(token)):
                yield token

    def _spelled(self) -> Iterator[str]:
        """Yield the words, and up to four in a row as one name in the usual spellings."""
        for line in self.prose.splitlines():
            words = re.findall(r"[A-Za-z_]\w*", line)
            for at, word in enumerate(words):
                if len(word) > _SHORT:
                    yield word
                for end in range(at + 2, min(at + _RUN, len(words)) + 1):
                    run = [each.lower() for each in words[at:end]]
                    snake = "_".join(run)
                    yield from (snake, f"_{snake}", snake.upper(), "".join(each.title() for each in run))

    def _meant(self, name: str) -> Iterable[str]:
        meaning = self.names.resolve(name)
        if isinstance(meaning, Found):
            return self._roots(meaning.ids)
        if isinstance(meaning, Ambiguous) and len(meaning.candidates) <= _MEANINGS:
            return meaning.candidates
        return ()

    def _roots(self, ids: Iterable[str]) -> list[str]:
        """Return the outermost of nodes: a file stands for its symbols, a class for its members."""
        nodes = self.names.graph.nodes
        held = frozenset(ids)
        known = [nodes[each] for each in sorted(held) if each in nodes]
        return [node.id for node in known if node.path and not _owners(node) & held]


def _owners(node: Node) -> set[str]:
    """Return the ids of all that a symbol may be inside of."""
    if "::" not in node.id:
        return set()
    names = node.name.split(".")
    return {node.path, *(f"{node.path}::{'.'.join(names[:end])}" for end in range(1, len(names)))}
