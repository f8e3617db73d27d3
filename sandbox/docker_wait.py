"""Waits for a container in a thread of its own: one request however long it runs, and no delay at its end."""

import contextlib
import json
import threading
from types import TracebackType
from typing import Self

import requests
import urllib3.exceptions
from docker import APIClient

from packets.errors import EngineLost
from sandbox.docker_client import raise_for_status, speaking

_PATIENCE = 10.0


class End:
    """The end of one container, as a context: leaving it ends the request, whatever became of the container."""

    def __init__(self, client: APIClient, container: str, name: str) -> None:
        self._client = client
        self._container = container
        self._name = name
        self._code = 0
        self._error: BaseException | None = None
        self._response: requests.Response | None = None
        self._left = False
        self._thread = threading.Thread(target=self._run, name=f"wait {name}", daemon=True)

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds`; whether there is an answer."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> int:
        """Return the exit code. Raises EngineLost."""
        if self._thread.is_alive():
            raise EngineLost(f"docker does not stop {self._name}", "look at the engine's log")
        if self._error:
            raise self._error
        return self._code

    def _run(self) -> None:
        try:
            with speaking(f"wait for {self._name}"):
                while not self._left and not self._ended():
                    pass
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
            self._error = error

    def _ended(self) -> bool:
        """Ask once; False when the engine's patience for one answer is over: a lost connection must not be forever."""
        url = f"{self._client.base_url}/v{self._client.api_version}/containers/{self._container}/wait"
        # The engine sends its headers at once and the rest at the container's end.
        with self._client.post(url, stream=True, timeout=self._client.timeout) as self._response:
            raise_for_status(self._response)
            try:
                self._code = int(json.loads(self._response.raw.read())["StatusCode"])
            except urllib3.exceptions.ReadTimeoutError:
                return False
        return True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left = True
        if self._thread.is_alive() and self._response is not None:
            with contextlib.suppress(OSError, ValueError, RuntimeError):  # it ended by itself meanwhile
                self._response.raw.shutdown()
            self._thread.join(_PATIENCE)
