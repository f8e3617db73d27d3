"""How JavaScript and TypeScript files find each other: relative paths, aliases, workspaces, packages of the tree."""

import re
from functools import cached_property

from controller.graph.language import Files
from controller.graph.languages.script.configs import Configs
from controller.graph.languages.script.files import SourceFiles, folder_of, is_typescript, joined
from controller.graph.languages.script.packages import Packages
from controller.graph.languages.script.statements import ITSELF

_BUILTIN = frozenset({
    "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
    "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net",
    "os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream",
    "string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi",
    "worker_threads", "zlib",
})  # fmt: skip
_PACKAGE = re.compile(
    r"(?:(?:npm|jsr):)?((?:@[a-z0-9~_-][a-z0-9._~-]*/)?[a-z0-9_-][a-z0-9._~-]*)(?:@[^/]*)?(?:/|$)", re.IGNORECASE
)
_LOADERS = re.compile(r"^.*!|\?.*$")
_ALIAS = ("@/", "~/")
"""What frameworks call the sources of a package where no configuration says so."""

_SOURCES = (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cts", ".cjs")


def ecosystem(files: Files) -> "Script":
    """Return the ecosystem of one tree."""
    return Script(files)


class Script:
    """An `Ecosystem`. Every place is a file: what a package or a folder means is its entry."""

    def __init__(self, files: Files) -> None:
        self.files = SourceFiles(files.paths)
        ours = {path: said for path, said in files.settings.items() if "node_modules/" not in f"/{path}"}
        self.packages = Packages(self.files, ours)
        configs = {path: said for path, said in ours.items() if "config" in path.rpartition("/")[2]}
        self.configs = Configs(self.files, self.packages, configs)

    def place(self, module: str, importer: str) -> str | None:
        """Return the file that a module means in a file."""
        if module == ITSELF:
            return importer
        module = _LOADERS.sub("", module)
        if module.startswith("."):
            return self._at(joined(folder_of(importer), module), importer)
        if not module or module.startswith("node:"):
            return None
        if module.startswith("/"):
            package = self.packages.nearest(folder_of(importer))
            return self._at(joined(package or "", module), importer)
        found = self.packages.imported(module, importer) if module.startswith("#") else None
        found = found or self.configs.find(module, importer)
        if found is None and module not in _BUILTIN:
            found = self.packages.named(module, importer)
        return found or (self._aliased(module[2:], importer) if module.startswith(_ALIAS) else None)

    def _at(self, path: str | None, importer: str) -> str | None:
        """Return the file at a path: itself, with a suffix, or the entry of a folder."""
        if path is None:
            return None
        typescript = is_typescript(importer)
        found = self.files.file(path, typescript=typescript) or self.files.index(path, typescript=typescript)
        return found or (self.packages.entry(path) if f"{path}/package.json".lstrip("/") in self.files.paths else None)

    def _aliased(self, path: str, importer: str) -> str | None:
        package = self.packages.nearest(folder_of(importer)) or ""
        places = (self._at(joined(package, f"{start}{path}"), importer) for start in ("src/", "", "app/"))
        return next((found for found in places if found), None)

    def submodule(self, place: str, name: str) -> str | None:
        """Return nothing: a module has what it exports."""
        del place, name
        return None

    def members(self, place: str) -> tuple[str, ...]:
        """Return nothing: every place is a file."""
        del place
        return ()

    def beside(self, path: str) -> tuple[str, ...]:
        """Return nothing: a file sees what it imports."""
        del path
        return ()

    def package(self, module: str, importer: str) -> str:
        """Return the npm package of a module; nothing for Node's own, and for aliases that nobody could resolve."""
        del importer
        found = _PACKAGE.match(module)
        name = found[1] if found and ":" not in module.replace("npm:", "").replace("jsr:", "") else ""
        return "" if name.partition("/")[0] in _BUILTIN else name

    @cached_property
    def _stems(self) -> dict[str, list[str]]:
        """Sources by their name without suffix, index files by that of their folder too."""
        stems: dict[str, list[str]] = {}
        for path in sorted(self.files.paths):
            if path.endswith(_SOURCES):
                stem = _stem(path)
                stems.setdefault(stem.rpartition("/")[2], []).append(path)
                if stem.endswith("/index"):
                    stems.setdefault(folder_of(stem).rpartition("/")[2], []).append(path)
        return stems

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return the sources whose path ends so; a dot may be part of a file's name."""
        ending = dotted.replace(".", "/")
        ends = (f"/{ending}", f"/{ending}/index")
        found = [path for path in self._stems.get(ending.rpartition("/")[2], ()) if f"/{_stem(path)}".endswith(ends)]
        return tuple(found or self._stems.get(dotted, ()))

    def folder(self, place: str) -> str | None:
        """Return the folder of an index file."""
        name = place.rpartition("/")[2]
        return folder_of(place) or None if name.startswith("index.") and place.endswith(_SOURCES) else None

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(folder for path in self.files.paths if path.endswith(_SOURCES) for folder in _above(path))

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return the files that would be the module, for each part of the name behind folders that are there."""
        parts = dotted.split(".")
        places: list[str] = []
        for length in range(len(parts), 0, -1):
            path = "/".join(parts[:length])
            if length == 1 or folder_of(path) in self._folders:
                places += [f"{path}{end}{suffix}" for end in ("", "/index") for suffix in _SOURCES[:4]]
        return tuple(places) if parts[0] in self._folders else ()


def _stem(path: str) -> str:
    stem = path.rpartition(".")[0]
    return stem.removesuffix(".d")


def _above(path: str) -> list[str]:
    found = []
    while path := folder_of(path):
        found.append(path)
    return found
