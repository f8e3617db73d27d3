"""Pushing one landed commit to a remote of the user's: as the user, never by force, and never asking for a password.

Here the user's whole set-up counts, as with a push by hand: configuration, credential helpers, the ssh agent, proxies,
the pre-push hook. Nothing can ask in between: no terminal, no askpass program, ssh in batch mode.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from packets.errors import GraceError, MachineLacks
from sandbox.errand import Errand, run
from sandbox.git.objects import checked
from sandbox.git.process import Result, start
from sandbox.git.values import decode

DEADLINE = 3600.0
"""Seconds for one push, its pre-push hook included."""

_PASSED = ("GIT_CONFIG_", "GIT_SSH", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_")
_QUIET = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false")
_SILENT = {
    "LC_ALL": "C",
    "LANGUAGE": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
}
_BATCH = {"ssh": "-o BatchMode=yes", "ssh.exe": "-o BatchMode=yes", "plink": "-batch", "plink.exe": "-batch"}


class Pushed(NamedTuple):
    """How a push went: `ok` when the remote's branch has the commit now; `said` in a line."""

    ok: bool
    said: str


def remotes(main: Path) -> tuple[str, ...]:
    """Name the remotes that the user's configuration gives the repository around `main`."""
    return tuple(decode(start(("remote",), main, environment()).out).splitlines())


def push(main: Path, remote: str, commit: str, branch: str, unwanted: Callable[[], bool]) -> Pushed:
    """Bring the commit to the remote's branch of this name; one that has it, or has gone on from it, is left alone.

    What the remote or git has against it is a value; raises MachineLacks without git or a process.
    """
    git, commit = _Remote(main, remote, unwanted), checked(commit)
    try:
        if git.holds(commit, branch):
            return Pushed(ok=True, said=f"{remote} has {commit[:12]} on {branch} already")
        sent = git.push(commit, branch)
        if sent.ok or (not sent.stopped and git.holds(commit, branch)):
            return Pushed(ok=True, said=f"pushed {commit[:12]} to {branch} of {remote}")
    except MachineLacks:  # no git, or a moment of weakness: that is tried again
        raise
    except GraceError as fault:
        return Pushed(ok=False, said=fault.message)
    return Pushed(ok=False, said=f"{remote} does not take {branch}: {_words(sent)}")


def environment() -> dict[str, str]:
    """Return the user's environment without what names another repository, traces, or could ask something."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _is_passed(name)}
    own.pop("SSH_ASKPASS", None)
    return own | _SILENT


def _is_passed(name: str) -> bool:
    return name.startswith(_PASSED)


class _Remote:
    """One remote, spoken to by git in the user's main checkout."""

    def __init__(self, main: Path, remote: str, unwanted: Callable[[], bool]) -> None:
        self.main, self.remote, self._unwanted = main, remote, unwanted
        self._env = environment()
        self._env |= _quiet_ssh(self._env, _configured(main, self._env))

    def holds(self, commit: str, branch: str) -> bool:
        """Say whether the branch, wherever a push would go, is at the commit or has gone on from it."""
        listed = start(("remote", "get-url", "--push", "--all", "--", self.remote), self.main, self._env)
        if listed.code:
            raise GraceError(f"the repository has no remote {self.remote}: {listed.fault}")
        return all(self._has(url, commit, f"refs/heads/{branch}") for url in decode(listed.out).splitlines())

    def _has(self, url: str, commit: str, ref: str) -> bool:
        found = self._ask("ls-remote", "--", url, ref)
        if not found.ok:
            raise GraceError(f"cannot look at {self.remote}: {_words(found)}")
        tip = next((line.split("\t")[0] for line in found.output.splitlines() if line.endswith(f"\t{ref}")), None)
        if tip is None or tip == commit:
            return tip == commit
        if start(("cat-file", "-e", tip), self.main, self._env).code:  # it went on with what only the remote has
            self._ask(*_QUIET, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
                      "--", url, ref)  # fmt: skip
        return start(("merge-base", "--is-ancestor", commit, tip), self.main, self._env).code == 0

    def push(self, commit: str, branch: str) -> Errand:
        """Push exactly this commit: no tags, no submodules, nothing forced."""
        flags = ("--porcelain", "--no-follow-tags", "--recurse-submodules=no")
        return self._ask(*_QUIET, "push", *flags, "--", self.remote, f"{commit}:refs/heads/{branch}")

    def _ask(self, *args: str) -> Errand:
        return run(["git", *args], env=self._env, cwd=self.main, deadline=DEADLINE, unwanted=self._unwanted)


def _configured(main: Path, env: Mapping[str, str]) -> Result:
    return start(("config", "--get", "core.sshCommand"), main, env)


def _quiet_ssh(env: Mapping[str, str], configured: Result) -> dict[str, str]:
    """Return the user's own ssh, told not to ask; one that we do not know is left as it is, and has no terminal."""
    program = shlex.quote(env.get("GIT_SSH") or "ssh")
    command = env.get("GIT_SSH_COMMAND") or decode(configured.out).strip() or program
    try:
        name = Path(shlex.split(command)[0]).name
    except (ValueError, IndexError):
        return {}
    return {"GIT_SSH_COMMAND": f"{command} {_BATCH[name]}"} if name in _BATCH else {}


def _words(errand: Errand) -> str:
    """Return the one line that says most, without passwords in addresses."""
    if errand.stopped:
        return errand.stopped
    lines = [line.strip() for line in errand.output.splitlines() if line.strip()]
    refused = [" ".join(line.split("\t")[2:]) for line in lines if line.startswith("!\t")]
    remote = [line for line in lines if line.startswith("remote: ")]
    faults = [line for line in lines if line.startswith(("fatal:", "error:"))]
    said = "; ".join([*refused[:1], *remote[:1]]) or (faults or lines or [f"exit code {errand.code}"])[0]
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1", re.sub(r"^(fatal|error): ", "", said))[:300]
