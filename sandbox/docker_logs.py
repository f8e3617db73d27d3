"""A container's output, read in large pieces: the SDK reads a flood of short lines frame by frame, minutes long."""

from collections.abc import Callable

from docker import APIClient

from sandbox.docker_client import raise_for_status

_HEADER = 8  # bytes: stream, three of nothing, length
_PIECE = 1 << 17

MAX_SIZE = 8 << 20
"""Bytes of one of the engine's own log files; there are `MAX_FILES`."""
MAX_FILES = 3
_RECORD = 76  # bytes that the engine's JSON adds to a line


def read(client: APIClient, name: str, sink: Callable[[bytes], object]) -> bool:
    """Hand the output of a container that has ended to `sink`; False when the engine may have dropped the oldest."""
    url = f"{client.base_url}/v{client.api_version}/containers/{name}/logs"
    stored = 0
    with client.get(url, params={"stdout": 1, "stderr": 1}, stream=True, timeout=client.timeout) as response:
        raise_for_status(response)
        rest = b""
        while piece := response.raw.read(_PIECE):
            frames, rest = _split(rest + piece)
            stored += sum(len(frame) + _RECORD for frame in frames)
            sink(b"".join(frames))
    return stored < (MAX_FILES - 1) * MAX_SIZE


def _split(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the complete frames' contents, and what is left."""
    frames, at = [], 0
    while at + _HEADER <= len(data):
        end = at + _HEADER + int.from_bytes(data[at + 4 : at + _HEADER], "big")
        if end > len(data):
            break
        frames.append(data[at + _HEADER : end])
        at = end
    return frames, data[at:]
