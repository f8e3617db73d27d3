"""Speaking to a Docker engine: which one, and what its silences and refusals mean."""

import contextlib
import math
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import requests
import requests.adapters
import requests.exceptions
import urllib3.exceptions
from docker import APIClient, errors, utils
from docker.transport import UnixHTTPAdapter

from packets.errors import EngineLost, MachineLacks
from sandbox.docker_socket import Adapter

CONFLICT = 409
_BODILESS = {101, 204, 304}
_SERVER = 500
_POOL = 64  # connections; a job holds one while it runs
_LOST = (requests.exceptions.ConnectionError, requests.exceptions.Timeout, urllib3.exceptions.HTTPError, OSError)
_START = "start Docker (`systemctl start docker`)"
_JOIN = "let your user use the engine that is there (Docker's page on its group `docker`: as good as root)"
_ANSWER = 60  # seconds an engine may take for one answer


class _Client(APIClient):
    """The SDK's client without its leaks: of a constructor that fails, and of a connection that is refused."""

    def __init__(self, **settings: Any) -> None:
        self._streams: list[requests.Response] = []
        self._lock = threading.Lock()
        try:
            super().__init__(**settings)
        except BaseException:
            self.close()
            raise

    def mount(self, prefix: str | bytes, adapter: requests.adapters.BaseAdapter) -> None:
        """Put our adapter where the SDK puts its own, before anything was asked through it."""
        if isinstance(adapter, UnixHTTPAdapter):
            adapter = self._custom_adapter = Adapter(adapter)
        super().mount(prefix, adapter)

    def send(self, request: requests.PreparedRequest, **about: Any) -> requests.Response:
        """Refuse an answer that was cut within its headers: Python takes the rest for an empty one."""
        response = super().send(request, **about)
        coding, length = (response.headers.get(name) for name in ("Transfer-Encoding", "Content-Length"))
        if coding != "chunked" and length is None and response.status_code not in _BODILESS:
            response.close()
            raise requests.exceptions.ConnectionError("the answer was cut short")
        if about.get("stream"):
            with self._lock:
                self._streams = [one for one in self._streams if not one.raw.closed] + [response]
        return response

    def close(self) -> None:
        """Close connections, also those of streams that somebody stopped reading."""
        with self._lock:
            while self._streams:
                self._streams.pop().close()
        super().close()


def open_client(timeout: float) -> tuple[APIClient, Mapping[str, Any]]:
    """Return a client and the engine's own facts. `GRACE_DOCKER_HOST` goes before `DOCKER_HOST`."""
    environment = dict(os.environ)
    if host := environment.get("GRACE_DOCKER_HOST"):
        environment["DOCKER_HOST"] = host
    where = environment.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    client = None
    try:
        settings = utils.kwargs_from_env(environment=environment)
        client = _Client(version="auto", timeout=math.ceil(timeout), max_pool_size=_POOL, **settings)
        info = client.info()
        client.timeout = _ANSWER
    except (errors.DockerException, *_LOST, ValueError) as error:
        if client is not None:
            client.close()
        remedy = _JOIN if isinstance(_root(error), PermissionError) else _START
        hint = f"{remedy}, or say `sandbox: bubblewrap` in the plan"
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


def _root(error: BaseException) -> BaseException:
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return error


def _root_cause(error: BaseException) -> str:
    """Say the innermost reason: the SDK wraps a refused connection five times."""
    error = _root(error)
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:200]
