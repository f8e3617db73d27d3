"""Which folders a worker may write, as layers of mounts over a shared base. Pure: decided from the tree and the scope.

A layer is a folder of the workspace's own, shown at a folder of /repo. A writable one holds a copy of what the base has
there; the root, and a folder in which a mount point must be made, get a read-only one (a shell). A layer that is not
deep holds the folder's own files, and the base's folders below it are bound over it, read-only.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sandbox.git import Entry

MAX_BINDS = 100
"""Folders bound over one layer; where there are more, a deep copy is made instead, or the mount point in the base."""


@dataclass
class Layer:
    """`covered`: folders bound over it (full paths), no part of it; `points`: empty folders to make in it."""

    folder: str
    writable: bool
    deep: bool
    covered: frozenset[str] = frozenset()
    points: list[str] = field(default_factory=list)

    def holds(self, path: str) -> bool:
        """Say whether a path of the base is this layer's to show and to harvest."""
        if not _within(path, self.folder):
            return False
        # What is covered and in the base lies directly in the folder: one look tells.
        end = path.find("/", len(self.folder) + 1 if self.folder else 0)
        return (path if end < 0 else path[:end]) not in self.covered


@dataclass
class Layout:
    """`binds`: folders of the base bound read-only; `base_points`: mount points that must be made in the base."""

    layers: list[Layer]
    binds: list[str]
    base_points: list[str]


class Outline:
    """The folders of a tree."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.children: dict[str, set[str]] = defaultdict(set)
        self.children[""] = set()
        for path in {path.rpartition("/")[0] for path in entries}:
            self._add(path)

    def _add(self, folder: str) -> None:
        while folder:
            above = folder.rpartition("/")[0]
            self.children[folder]  # a defaultdict: now it is known
            if folder in self.children[above]:
                return
            self.children[above].add(folder)
            folder = above

    def nearest(self, folder: str) -> str:
        """Return the folder itself or the nearest one above it that the tree has."""
        while folder not in self.children:
            folder = folder.rpartition("/")[0]
        return folder


def whole() -> Layout:
    """Return the layout of one writable copy of everything, for engines without mounts."""
    return Layout([Layer("", writable=True, deep=True, covered=frozenset({".git"}))], [], [])


def lay_out(entries: Mapping[str, Entry], write_folders: Iterable[tuple[str, bool]]) -> Layout:
    """Decide the layers for the folders that must be writable (True: all beneath)."""
    outline = Outline(entries)
    layers = _writable(entries, outline, write_folders)
    base_points: list[str] = []
    if "" not in layers:
        _shell(outline, layers, "", ".git", base_points)
    for layer in [layer for layer in layers.values() if layer.folder not in outline.children]:
        nearest = outline.nearest(layer.folder)
        if nearest not in layers:
            _shell(outline, layers, nearest, layer.folder, base_points)
            continue
        layers[nearest].points.append(layer.folder)
        if layers[nearest].writable:
            del layers[layer.folder]  # it lies in a writable folder already
    return Layout(sorted(layers.values(), key=lambda x: x.folder), list(_cover(outline, layers)), base_points)


def _writable(
    entries: Mapping[str, Entry], outline: Outline, write_folders: Iterable[tuple[str, bool]]
) -> dict[str, Layer]:
    wanted: dict[str, bool] = {}
    for given, all_beneath in write_folders:
        folder, deep = _real_folder(entries, given, all_beneath)
        wide = len(outline.children.get(folder, ())) > MAX_BINDS or folder not in outline.children
        wanted[folder] = wanted.get(folder, False) or deep or wide
    layers: dict[str, Layer] = {}
    for folder, deep in sorted(wanted.items()):
        if not any(above.deep and _within(folder, above.folder) for above in layers.values()):
            layers[folder] = Layer(folder, writable=True, deep=deep)
    return layers


def _real_folder(entries: Mapping[str, Entry], folder: str, deep: bool) -> tuple[str, bool]:  # noqa: FBT001
    """Where the base has a file, a link or a submodule in the folder's place, give the folder that holds that one."""
    ends = [at for at, char in enumerate(folder) if char == "/"]
    for end in (*ends, len(folder)):
        if folder[:end] in entries:
            return folder[:end].rpartition("/")[0], False
    return folder, deep


def _shell(outline: Outline, layers: dict[str, Layer], folder: str, point: str, base_points: list[str]) -> None:
    if len(outline.children[folder]) > MAX_BINDS:
        base_points.append(point)
    else:
        layers[folder] = Layer(folder, writable=False, deep=False, points=[] if point == ".git" else [point])


def _cover(outline: Outline, layers: Mapping[str, Layer]) -> Iterator[str]:
    """Note what lies over each layer, and give the folders of the base that must be bound there."""
    for layer in layers.values():
        over = [".git"] if layer.folder == "" else []
        if not layer.deep:
            below = [child for child in sorted(outline.children[layer.folder]) if _bindable(child) or child in layers]
            over += below
            yield from (child for child in below if child not in layers)
        layer.covered = frozenset((*over, *(point for point in layer.points if point in layers)))


def _bindable(folder: str) -> bool:
    """Engines take mount targets as text: a folder whose name is none is copied into the layer."""
    return folder.isprintable() and folder.encode("utf-8", "replace").decode() == folder


def _within(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")
