"""Refs: read, and moved by compare-and-swap."""

import time
from contextlib import suppress
from pathlib import Path

from packets.errors import GraceError
from sandbox.effect import effect
from sandbox.git.process import Result, Runner, start
from sandbox.git.values import RefMoved, decode

_ABANDONED = 3.0
"""Seconds. A git holds the lock of a ref for milliseconds; what is older was left by one that was killed."""
_TICK = 0.1  # seconds; how coarse the times of files may be
_OWN = ("refs/heads/grace/", "refs/grace/")


def free(common: Path, *prefixes: str) -> None:
    """Remove the locks that a killed git left below prefixes where only the caller moves refs."""
    for prefix in prefixes:
        folder = common / checked_ref(prefix.rstrip("/") + "/")
        for lock in sorted(folder.rglob("*.lock")):
            with suppress(FileNotFoundError):
                age = time.time() - lock.stat().st_mtime
                time.sleep(min(max(_ABANDONED - age, 0.0), _ABANDONED))
                with effect("ref.unlock"):
                    lock.unlink()


def checked_ref(ref: str) -> str:
    """Return a full ref name; raises GraceError for anything else (git itself judges the rest of the name)."""
    if not ref.startswith("refs/") or "\n" in ref or "\0" in ref:
        raise GraceError(f"not a full ref name: {ref[:80]!r}")
    return ref


def read(runner: Runner, ref: str) -> str | None:
    """Return what the ref holds, or None."""
    result = runner.ask("rev-parse", "--verify", "--quiet", checked_ref(ref))
    return result.out.decode().strip() if result.code == 0 else None


def listed(runner: Runner, *prefixes: str) -> dict[str, str]:
    """Return the refs at or below the prefixes, by name."""
    below = [checked_ref(prefix.rstrip("/") + "/").rstrip("/") for prefix in prefixes]
    lines = runner.run("for-each-ref", "--format=%(objectname) %(refname)", *below).splitlines()
    return {decode(name): sha.decode() for sha, _, name in (line.partition(b" ") for line in lines)}


def update(runner: Runner, ref: str, new: str, old: str | None) -> None:
    """Move the ref from `old` ("": must not exist, None: anything) to `new`; raises RefMoved when it is elsewhere."""
    asked = ["update-ref", "-m", "grace", "--no-deref", checked_ref(ref), new]
    _swap(runner, asked if old is None else [*asked, old or "0" * len(new)], ref, old)


def delete(runner: Runner, ref: str, old: str | None) -> None:
    """Delete the ref if it is at `old` (None: anywhere); one that is gone already is fine."""
    if read(runner, ref) is None:
        return
    asked = ["update-ref", "--no-deref", "-d", ref]
    _swap(runner, asked if old is None else [*asked, old], ref, old)


def _swap(runner: Runner, asked: list[str], ref: str, old: str | None) -> None:
    began = time.time()
    result = _asked(runner, asked)
    if result.code and _free(runner, ref, asked, began, killed=result.code < 0):
        result = _asked(runner, asked)
    if result.code == 0:
        return
    now = read(runner, ref)
    if old is not None and (now or "") != old:
        raise RefMoved(f"{ref} is at {now or 'nothing'}, not at {old or 'nothing'}: somebody else moved it")
    raise runner.failed(f"cannot change {ref}", result)


def _asked(runner: Runner, asked: list[str]) -> Result:
    """Run git and return how it ended, also when it was killed."""
    return start(("--bare", *asked), runner.common, runner.environment())


def _free(runner: Runner, ref: str, asked: list[str], began: float, *, killed: bool) -> bool:
    """Remove the locks that a git of ours left when it was killed; says whether there were any.

    Below grace's own names nobody else writes. A lock on a branch of the user's is ours when it holds the very commit
    that we move it to, one on the packed refs when it is as old as the git of ours that died. A git that lives holds
    such a lock for a moment.
    """
    found = False
    for lock in (runner.common / f"{ref}.lock", runner.common / "packed-refs.lock"):
        with suppress(OSError):
            born = lock.stat().st_mtime
            if lock.name == "packed-refs.lock":
                ours = killed and born > began - _TICK
            else:
                own = ref.startswith(_OWN) or lock.read_text("utf-8", "replace").strip() in asked
                ours = own and (killed or time.time() - born > _ABANDONED)
            if ours:
                with effect("ref.unlock"):
                    lock.unlink()
                found = True
    return found
