"""The machine's way to the network, for `setup:` alone: proxies, certificates, and where pip looks for packages.

It is handed over as files below `INSIDE`, so that neither the image nor the container's description keeps any of it.
"""

import configparser
import os
import re
import shlex
import ssl
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from sandbox.protocol import Mount

INSIDE = "/grace/setup"
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_CERTIFICATES = (
    *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS"),
    "CARGO_HTTP_CAINFO",
)
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_NOT_PASSED = {"PIP_CONFIG_FILE", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_CACHE_DIR", "PIP_REQUIRE_VIRTUALENV"}
_PATH = re.compile(r"(?<![\w.:/-])(file://)?(/[^\s,;]+)")


class NetworkAccess(NamedTuple):
    """`mounts` is what setup needs to see, besides what `environment` in the first of them says."""

    mounts: tuple[Mount, ...]


def network_access(folder: Path) -> NetworkAccess:
    """Write `environment` and `pip.conf` into `folder` and return it mounted, with all that they point to."""
    shown = _Shown()
    bundle = next((path for path in _bundles() if path.is_file()), None)
    environment = {name: value for name, value in os.environ.items() if name.lower() in _PROXIES}
    for name, value in os.environ.items():
        if name.startswith("PIP_") and name not in _NOT_PASSED:
            environment[name] = shown.translate(value)
    if bundle:
        environment |= dict.fromkeys(_CERTIFICATES, shown.translate(str(bundle)))
    environment |= {
        "PIP_CONFIG_FILE": f"{INSIDE}/pip.conf",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "DEBIAN_FRONTEND": "noninteractive",
    }
    _write_pip(folder / "pip.conf", shown)
    lines = [f"{name}={shlex.quote(value)}" for name, value in sorted(environment.items()) if "\n" not in value]
    (folder / "environment").write_text("\n".join(lines) + "\n")
    return NetworkAccess((Mount(folder, INSIDE), *shown.mounts()))


class _Shown:
    """Paths of this machine that setup sees, each at a place of its own below /grace/seen."""

    def __init__(self) -> None:
        self._places: dict[Path, str] = {}

    def translate(self, value: str) -> str:
        """Return the value with every local path that exists replaced by its place inside."""
        return _PATH.sub(self._one, value)

    def mounts(self) -> Iterator[Mount]:
        """Yield the mounts, read-only."""
        for source, target in self._places.items():
            yield Mount(source, target)

    def _one(self, match: "re.Match[str]") -> str:
        path = Path(match[2])
        if not path.exists():
            return match[0]
        # The pages of an index folder link to files beside it (`../../files/…`).
        shown = path.parent if path.is_dir() and path.name == "simple" else path
        place = self._places.setdefault(shown.resolve(), f"/grace/seen/{len(self._places)}")
        inside = place if shown == path else f"{place}/{path.name}"
        return f"{match[1] or ''}{inside}"


def _bundles() -> Iterator[Path]:
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT"):
        if value := os.environ.get(name):
            yield Path(value)
    if default := ssl.get_default_verify_paths().cafile:
        yield Path(default)
    yield from map(Path, _BUNDLES)


def _write_pip(target: Path, shown: _Shown) -> None:
    merged: dict[str, dict[str, str]] = {}
    for file in _pip_files():
        for section, values in _read(file).items():
            merged.setdefault(section, {}).update(values)
    out = configparser.RawConfigParser()
    for section, values in merged.items():
        out[section] = {
            key: shown.translate(value)
            for key, value in values.items()
            if f"PIP_{key.replace('-', '_').upper()}" not in _NOT_PASSED
        }
    with target.open("w") as written:
        out.write(written)


def _read(file: Path) -> Mapping[str, Mapping[str, str]]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file)
    except (configparser.Error, OSError, UnicodeDecodeError):
        return {}
    return {section: dict(parser.items(section)) for section in parser.sections()}


def _pip_files() -> Iterator[Path]:
    """Yield pip's configuration files in the order in which it reads them."""
    for folder in reversed((os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")):
        yield Path(folder, "pip/pip.conf")
    yield Path("/etc/pip.conf")
    home = Path.home()
    yield home / ".pip/pip.conf"
    yield Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config", "pip/pip.conf")
    yield Path(sys.base_prefix, "pip.conf")
    named = os.environ.get("PIP_CONFIG_FILE")
    if named and named != os.devnull:
        yield Path(named)
