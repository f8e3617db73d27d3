"""Which file of a tree a path without its suffix means: suffixes, index files, sources of what is built elsewhere."""

import re
from collections.abc import Set as AbstractSet

_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")
_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs")
_DECLARED = (".d.ts", ".d.mts", ".d.cts")
_OTHERS = (".json", ".vue", ".svelte", ".astro", ".node", ".css")
_SUFFIXES = {
    True: (*_TYPESCRIPT, *_JAVASCRIPT, *_DECLARED, *_OTHERS),
    False: (*_JAVASCRIPT, *_TYPESCRIPT, *_DECLARED, *_OTHERS),
}
_WRITTEN = {".js": (".ts", ".tsx", ".d.ts", ".jsx"), ".jsx": (".tsx", ".d.ts"), ".mjs": (".mts", ".d.mts", ".ts"),
            ".cjs": (".cts", ".d.cts", ".ts")}  # fmt: skip
"""What a source may be called whose product is imported."""

_BUILT = frozenset({
    "dist", "lib", "build", "out", "esm", "cjs", "es", "es5", "es6", "umd", "types", "typings", "module",
    "commonjs", "output", "bundle", "release",
})  # fmt: skip
_SOURCE = ("src/", "", "source/", "lib/", "src/lib/")
_FLAVOURS = re.compile(
    r"(?:[.-](?:min|esm|cjs|umd|mjs|prod|production|development|dev|global|browser|bundler|node|d))*\.\w+$"
)


def is_typescript(path: str) -> bool:
    """Tell whether sources in TypeScript come first for an importer."""
    return path.endswith((*_TYPESCRIPT, ".vue", ".svelte", ".astro"))


def joined(folder: str, path: str) -> str | None:
    """Return a path written in a folder, from the root; None where it leaves the tree."""
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def folder_of(path: str) -> str:
    """Return the folder in which a file stands; empty for the root."""
    return path.rpartition("/")[0]


class SourceFiles:
    """The files of one tree. Answers are remembered."""

    def __init__(self, paths: AbstractSet[str]) -> None:
        self.paths = paths
        self._found: dict[tuple[str, bool], str | None] = {}

    def file(self, path: str | None, *, typescript: bool = True) -> str | None:
        """Return the file that a path means, with or without its suffix; folders are not looked into."""
        if not path:
            return None
        key = (path, typescript)
        if key not in self._found:
            self._found[key] = self._file(path, typescript=typescript)
        return self._found[key]

    def _file(self, path: str, *, typescript: bool) -> str | None:
        if path in self.paths:
            return path
        for suffix in _SUFFIXES[typescript]:
            if path + suffix in self.paths:
                return path + suffix
        stem, dot, suffix = path.rpartition(".")
        for written in _WRITTEN.get(dot + suffix, ()):
            if stem + written in self.paths:
                return stem + written
        return None

    def index(self, folder: str, *, typescript: bool = True) -> str | None:
        """Return the file that a folder means by itself."""
        return self.file(f"{folder}/index" if folder else "index", typescript=typescript)

    def source(self, folder: str, path: str) -> str | None:
        """Return the file of a package at a path, or the source from which a path that is not in the tree is built."""
        whole = joined(folder, path)
        if whole is None:
            return None
        if found := self.file(whole) or self.index(whole):
            return found
        rest = whole[len(folder) + 1 :] if folder else whole
        parts = rest.split("/")
        while len(parts) > 1 and parts[0] in _BUILT:
            parts = parts[1:]
            for start in _SOURCE:
                at = joined(folder, f"{start}{'/'.join(parts)}")
                if at and (found := self.file(at) or self.file(_FLAVOURS.sub("", at)) or self.index(at)):
                    return found
        return None
