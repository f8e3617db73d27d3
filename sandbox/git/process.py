"""How a git process is started: no environment and no configuration of others decides what it does."""

import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from packets.errors import GraceError, MachineLacks, Transient
from sandbox.faults import git_failed, transient

OLDEST = (2, 38)  # `merge-tree --write-tree`

# The repository's own config file cannot be skipped, so what could run a program or bend a result is overridden.
_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.quotePath": "false",
    "core.fsync": "committed,reference",  # git's default leaves loose objects and refs to a power loss
    "core.splitIndex": "false",
    "core.sparseCheckout": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.filesRefLockTimeout": "10000",
    "core.packedRefsTimeout": "10000",
    "core.logAllRefUpdates": "true",
    "index.sparse": "false",
    "commit.gpgSign": "false",
    "i18n.commitEncoding": "utf-8",
    "i18n.logOutputEncoding": "utf-8",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "merge.renames": "true",
    "merge.renormalize": "false",
    "merge.directoryRenames": "conflict",
    "merge.conflictStyle": "merge",
    "merge.default": "text",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "diff.algorithm": "myers",
    "diff.suppressBlankEmpty": "false",
    "diff.context": "3",
    "submodule.recurse": "false",
    "log.showSignature": "false",
}
_FIXED = {
    "LANG": "C",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_COMMITTER_NAME": "grace",
    "GIT_COMMITTER_EMAIL": "grace@localhost",
}
_KEPT = ("PATH", "HOME", "TMPDIR")
_USERS_OWN = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


class Result(NamedTuple):
    """How a git process ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def fault(self) -> str:
        """Return the line of stderr that says most, without git's `fatal:`."""
        lines = [line.strip() for line in self.err.decode("utf-8", "replace").splitlines() if line.strip()]
        wanted = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
        return re.sub(r"^(fatal|error): ", "", wanted[0])[:300] if wanted else f"exit code {self.code}"


def config_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make git read `settings` above every file."""
    given = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        given[f"GIT_CONFIG_KEY_{number}"], given[f"GIT_CONFIG_VALUE_{number}"] = key, value
    return given


@cache
def scrubbed() -> dict[str, str]:
    """Return the environment of plumbing: fixed, with PATH, HOME and TMPDIR of the caller."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | _FIXED | config_environment(_CONFIG)


def users_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the user's environment with the user's configuration, without what names another repository."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _USERS_OWN}
    return own | {"LC_ALL": "C", "LANGUAGE": "C", "GIT_TERMINAL_PROMPT": "0"} | config_environment(settings)


def start(args: tuple[str, ...], cwd: Path, env: Mapping[str, str], stdin: bytes | None = None) -> Result:
    """Run git to its end; raises MachineLacks without git, Transient without a process, GraceError without `cwd`."""
    try:
        done = subprocess.run(
            ["git", *args],
            cwd=cwd,
            env=env,
            check=False,
            capture_output=True,
            input=stdin or b"",
        )
    except FileNotFoundError as gone:
        if not cwd.is_dir():
            raise GraceError(f"the folder {cwd} is gone") from gone
        raise MachineLacks("git is not installed", "install it: apt-get install git") from gone
    except OSError as fault:
        if known := transient(fault):
            raise known from fault
        raise
    return Result(done.returncode, done.stdout, done.stderr)


@cache
def require_version() -> None:
    """Raise MachineLacks when git is missing or older than 2.38."""
    said = start(("version",), Path("/"), scrubbed()).out.decode("ascii", "replace")
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise MachineLacks(f"git is too old: {said.strip()[:60]}", "grace needs git 2.38 or newer")


class Runner:
    """Runs git on one repository as if it were bare: no checkout's index or attributes can take part."""

    def __init__(self, common: Path) -> None:
        self.common = common

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of a call."""
        return scrubbed() | {"GIT_DIR": str(self.common)} | dict(extra or {})

    def ask(self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> Result:
        """Run and return how it ended, whatever the exit code. Raises Transient: a killed git has answered nothing."""
        result = start(("--bare", *args), self.common, self.environment(env), stdin)
        if result.code:
            fault = self.failed(f"git {args[0]} failed in {self.common}", result)
            if isinstance(fault, Transient):
                raise fault
        return result

    def run(self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        """Run and return stdout; raises GraceError with git's own words when it fails."""
        result = self.ask(*args, stdin=stdin, env=env)
        if result.code:
            raise self.failed(f"git {args[0]} failed in {self.common}", result)
        return result.out

    def failed(self, what: str, result: Result) -> GraceError:
        """Return the error for a git that failed: transient where the machine is at fault, else in git's words."""
        return git_failed(what, result.code, result.err, result.fault, self.common)

    def line(self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
        """Run and return the one line it prints."""
        return self.run(*args, stdin=stdin, env=env).decode("utf-8", "surrogateescape").strip()
