"""Speaking to a Docker engine: which one, and what its silences and refusals mean."""

import contextlib
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import requests
import requests.exceptions
import urllib3.exceptions
from docker import APIClient, errors, utils

from packets.errors import EngineLost, MachineLacks

CONFLICT = 409
_SERVER = 500
_POOL = 64  # connections; a job holds one while it runs
_LOST = (requests.exceptions.ConnectionError, requests.exceptions.Timeout, urllib3.exceptions.HTTPError, OSError)
_ANSWER = 60  # seconds an engine may take for one answer


def open_client(timeout: float) -> tuple[APIClient, Mapping[str, Any]]:
    """Return a client and the engine's own facts. `GRACE_DOCKER_HOST` goes before `DOCKER_HOST`."""
    environment = dict(os.environ)
    if host := environment.get("GRACE_DOCKER_HOST"):
        environment["DOCKER_HOST"] = host
    hint = "start Docker (`systemctl start docker`), or say `sandbox: bubblewrap` in the plan"
    client = None
    try:
        settings = utils.kwargs_from_env(environment=environment)
        client = APIClient(version="auto", timeout=math.ceil(timeout), max_pool_size=_POOL, **settings)
        info = client.info()
        client.timeout = _ANSWER
    except (errors.DockerException, *_LOST, ValueError) as error:
        if client is not None:
            client.close()
        where = environment.get("DOCKER_HOST") or "/var/run/docker.sock"
        raise MachineLacks(f"no Docker engine answers at {where}: {_root_cause(error)}", hint) from error
    return client, info


def raise_for_status(response: requests.Response) -> None:
    """Raise the SDK's own error for a refused plain request."""
    try:
        response.raise_for_status()
    except requests.exceptions.HTTPError as error:
        raise errors.APIError(str(error), response=response, explanation=response.text[:300]) from error


@contextlib.contextmanager
def speaking(what: str) -> Iterator[None]:
    """Turn the SDK's troubles into ours: gone away, or refused."""
    try:
        yield
    except errors.NotFound as error:
        raise EngineLost(
            f"docker could not {what}: {error.explanation}", "it was removed behind grace's back"
        ) from error
    except errors.APIError as error:
        lost = (error.status_code or _SERVER) >= _SERVER
        raise (EngineLost if lost else MachineLacks)(
            f"docker could not {what}: {error.explanation or error}"
        ) from error
    except _LOST as error:
        raise EngineLost(
            f"docker went away while asked to {what}: {_root_cause(error)}", "start it again, then `grace resume`"
        ) from error


def _root_cause(error: BaseException) -> str:
    """Say the innermost reason: the SDK wraps a refused connection five times."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:200]
