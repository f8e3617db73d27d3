"""Which engine a run gets: the one the plan names, or with `auto` docker, else bubblewrap; said aloud, never silent."""

from typing import NamedTuple

from packets.errors import MachineLacks
from packets.plan import Engine
from sandbox.protocol import Sandbox

_AUTO_TIMEOUT = 3.0  # seconds a Docker engine has to answer before bubblewrap is looked at
_NAMED_TIMEOUT = 10.0


class Choice(NamedTuple):
    """The engine, and one line that says which and why."""

    sandbox: Sandbox
    why: str


def choose(engine: Engine | str, *, strict: bool = False) -> Choice:
    """Return the engine. `strict` refuses one that cannot enforce every limit. Raises MachineLacks."""
    choice = _CHOICES[str(engine)]()
    gaps = choice.sandbox.gaps
    if strict and gaps:
        close(choice.sandbox)
        raise MachineLacks(
            f"{choice.sandbox.name} cannot enforce here: {'; '.join(gaps)}",
            "take `strict: true` out of `limits`, or use an engine that can (`grace doctor`)",
        )
    return choice


def close(sandbox: Sandbox) -> None:
    """Close an engine's connections, if it has any."""
    closing = getattr(sandbox, "close", None)
    if closing:
        closing()


def _auto() -> Choice:
    try:
        return _docker(_AUTO_TIMEOUT)
    except MachineLacks as no_docker:
        try:
            found = _bubblewrap()
        except MachineLacks as no_bubblewrap:
            raise MachineLacks(
                f"no sandbox works here: {no_docker.message}; {no_bubblewrap.message}",
                "start Docker, or allow user namespaces for bubblewrap; `grace doctor` says more",
            ) from no_bubblewrap
        return Choice(found.sandbox, f"bubblewrap, because {no_docker.message}")


def _docker(timeout: float = _NAMED_TIMEOUT) -> Choice:
    from sandbox.docker import DockerSandbox

    sandbox = DockerSandbox.connect(timeout=timeout)
    return Choice(sandbox, f"docker, engine {sandbox.version} answers")


def _bubblewrap() -> Choice:
    from sandbox.bubblewrap import BubblewrapSandbox

    sandbox = BubblewrapSandbox.connect()
    return Choice(sandbox, f"bubblewrap {sandbox.version}")


def _host() -> Choice:
    from sandbox.host import HostSandbox

    return Choice(HostSandbox(), "host, because the plan says so: no isolation at all")


def _memory() -> Choice:
    from sandbox.memory import MemorySandbox

    return Choice(MemorySandbox(), "memory: no process is started, for rehearsals and tests")


_CHOICES = {"auto": _auto, "docker": _docker, "bubblewrap": _bubblewrap, "host": _host, "memory": _memory}
