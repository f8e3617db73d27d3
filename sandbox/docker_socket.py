"""How the Docker SDK reaches a UNIX socket, without what it leaves open there.

The SDK never closes a socket whose connection is refused, and an engine can die between any two of our requests. It
also keeps a pool of connections for every address that was ever asked, so for every container; one is enough.
"""

import socket

from docker.transport import unixconn


class _Connection(unixconn.UnixHTTPConnection):
    def connect(self) -> None:
        """Connect, or leave nothing behind. Raises OSError."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(self.unix_socket)
        except BaseException:
            sock.close()
            raise
        self.sock = sock


class _Pool(unixconn.UnixHTTPConnectionPool):
    def _new_conn(self) -> _Connection:  # type: ignore[override]
        return _Connection(self.base_url, self.socket_path, self.timeout)  # type: ignore[arg-type]


class Adapter(unixconn.UnixHTTPAdapter):
    """Takes the place of the SDK's adapter, with its settings."""

    def __init__(self, given: unixconn.UnixHTTPAdapter) -> None:
        super().__init__(given.socket_path, given.timeout, max_pool_size=given.max_pool_size)

    def get_connection(self, url: bytes | str, proxies: object = None) -> unixconn.UnixHTTPConnectionPool:
        """Return the one pool, whatever is asked of the engine."""
        del url, proxies
        with self.pools.lock:
            pool: _Pool | None = self.pools.get(self.socket_path)
            if pool is None:
                pool = _Pool("http+docker://localhost", self.socket_path, self.timeout, maxsize=self.max_pool_size)
                self.pools[self.socket_path] = pool
        return pool
