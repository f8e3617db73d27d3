"""The graph on real trees, from the ground up and step by step, as ratios to what ctags and git grep take there.

Each figure is a process of its own, start of the interpreter included; the fastest of some rounds counts, in turns with
its floor, so that a busy moment hits both. Packages are downloaded, pinned: `homeassistant` (8k files) and `sympy`
from PyPI, `rxjs` (TypeScript) from npm.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

AIMS = {"cold": 3.0, "no-op": 2.0, "edit": 2.0}


class Package(NamedTuple):
    """Where a project comes from, and the file that most others use, with a definition to add to it."""

    fetch: tuple[str, ...]
    hub: str
    added: str


PACKAGES = {
    "homeassistant": Package(
        ("pip", "homeassistant==2024.3.3"), "homeassistant/helpers/entity.py", "\n\ndef _bench() -> None:\n    pass\n"
    ),
    "sympy": Package(("pip", "sympy==1.13.3"), "sympy/core/basic.py", "\n\ndef _bench():\n    pass\n"),
    "rxjs": Package(("npm", "rxjs@7.8.1"), "src/internal/Observable.ts", "\nexport function bench() {}\n"),
}


def unpacked(package: Package, into: Path) -> Path:
    """Download a project and return the folder of its sources."""
    kind, name = package.fetch
    if kind == "pip":
        pip = [sys.executable, "-P", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", into]
        subprocess.run([*pip, name], check=True, stdin=subprocess.DEVNULL)
        with zipfile.ZipFile(next(into.glob("*.whl"))) as opened:
            opened.extractall(into / "tree")
        return into / "tree"
    subprocess.run(["npm", "pack", "--silent", name], cwd=into, check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(next(into.glob("*.tgz"))) as opened:
        opened.extractall(into / "tree", filter="data")
    return into / "tree" / "package"


def git(folder: Path, *args: str) -> str:
    """Run one git command."""
    asked = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *args]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def committed(folder: Path, package: Package) -> tuple[str, str]:
    """Commit the sources, and an edit of the hub on top; return both trees, with the first one checked out."""
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "base")
    hub = folder / package.hub
    before = hub.read_text()
    hub.write_text(before + package.added)
    git(folder, "commit", "-q", "-a", "-m", "edit")
    hub.write_text(before)
    return git(folder, "rev-parse", "HEAD~1^{tree}"), git(folder, "rev-parse", "HEAD^{tree}")


def child(job: str, folder: Path, cache: Path, trees: list[str]) -> None:
    """Do one job as a fresh process does, and print what it took."""
    begin = time.perf_counter()
    from controller.graph import Knowledge
    from sandbox.git import Git

    with Git.discover(folder, quick=True) as repository:
        knowledge = Knowledge(repository, cache)
        ready = time.perf_counter()
        if job == "edit":
            made = knowledge.delta(*trees)
            assert made.nodes_added, "the edit shows"
        else:
            looked, made = knowledge.bring(trees[0], trees[0], no_cache=False, anew=job == "again")
            assert made == type(made)()
            assert looked.files > 0
    own, below = (resource.getrusage(each).ru_maxrss for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"inside": time.perf_counter() - ready, "loading": ready - begin, "own": own, "below": below}))


def spawned(job: str, folder: Path, cache: Path, trees: tuple[str, str]) -> dict[str, float]:
    """Run one job in a process and return what it took, in seconds and KiB."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", __file__, "--child", job, str(folder), str(cache), *trees],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return {**found, "whole": time.perf_counter() - begin}


def timed(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measured(name: str, rounds: int) -> bool:
    """Measure one project and print its figures; tell whether every aim is met."""
    package = PACKAGES[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = unpacked(package, Path(scratch))
        trees = committed(folder, package)
        listed = Path(scratch) / "files"
        listed.write_text("\n".join(git(folder, "ls-files").splitlines()))
        cache, copy = Path(scratch) / "facts.db", Path(scratch) / "copy.db"

        def ctags() -> None:
            subprocess.run(["ctags", "-f", os.devnull, "-L", str(listed)], cwd=folder, check=True, capture_output=True)

        def grep() -> None:
            subprocess.run(["git", "grep", "-c", "import"], cwd=folder, check=True, capture_output=True)

        def fresh(job: str) -> dict[str, float]:
            copy.unlink(missing_ok=True)
            if job != "cold":
                shutil.copy(cache, copy)
            return spawned(job, folder, copy, trees)

        floors = {"cold": timed(ctags)}
        best = {"cold": fresh("cold")}
        floors["cold"] = min(floors["cold"], timed(ctags))
        shutil.copy(copy, cache)
        for job in ("no-op", "edit"):
            rows = [(timed(grep), fresh(job)) for _ in range(rounds)]
            floors[job] = min(row[0] for row in rows)
            best[job] = min((row[1] for row in rows), key=lambda each: each["whole"])
        best["again"] = fresh("again")
        print(f"{name}: {len(listed.read_text().splitlines())} files, {package.hub} edited")
        met = True
        for job, took in best.items():
            floor, aim = floors.get(job), AIMS.get(job)
            ratio = took["whole"] / floor if floor else 0.0
            met = met and (aim is None or ratio <= aim)
            against = f"{ratio:.2f} times the floor ({floor:.3f} s), aim {aim:g}; " if floor else ""
            parts = f"inside {took['inside']:.3f}, loading {took['loading']:.3f}"
            memory = f"{took['own'] / 1024:.0f} MB, a helper {took['below'] / 1024:.0f} MB"
            print(f"  {job:6} {took['whole']:8.3f} s ({parts}); {against}{memory}")
        print(f"  the cache: {cache.stat().st_size / 1e6:.1f} MB", flush=True)
        return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(PACKAGES)}; default: all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        job, folder, cache, *trees = given.child
        child(job, Path(folder), Path(cache), trees)
        return 0
    met = [measured(name, given.rounds) for name in given.packages or PACKAGES]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
