"""pytest, pip and what they need, moved from beside grace into a root filesystem."""

import re
import shutil
import stat
import sys
from importlib import metadata
from pathlib import Path

from packets.errors import MachineLacks
from sandbox import process

PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
TAG = f".cpython-{sys.version_info.major}{sys.version_info.minor}.pyc"
_DISTRIBUTIONS = ("pytest", "pip", "setuptools", "wheel")
_WANTED_DISTRIBUTION = "pytest"
_LAUNCH = "#!/usr/local/bin/python3\nimport sys\nfrom {module} import {name}\nsys.exit({name}())\n"


def distributions() -> tuple[metadata.Distribution, ...]:
    """Return pytest, pip and what they need, as installed beside grace."""
    found: dict[str, metadata.Distribution] = {}
    queue = list(_DISTRIBUTIONS)
    while queue:
        name = re.sub(r"[-_.]+", "-", queue.pop(0)).lower()
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        queue += [need for line in found[name].requires or () if (need := _needed(line))]
    return tuple(found[name] for name in sorted(found))


def _needed(requirement: str) -> str | None:
    from packaging.requirements import Requirement

    parsed = Requirement(requirement)
    return parsed.name if not parsed.marker or parsed.marker.evaluate({"extra": ""}) else None


def copy(root: Path, interpreter: Path) -> None:
    """Put the packages where `interpreter`, moved to /usr/local, looks for them. Raises MachineLacks without pytest."""
    site = root / _site_packages(interpreter).relative_to("/")
    site.mkdir(parents=True, exist_ok=True)
    found = distributions()
    if not any(one.name == _WANTED_DISTRIBUTION for one in found):
        raise MachineLacks(
            "pytest is not installed beside grace", "install grace again: pytest is one of its dependencies"
        )
    for distribution in found:
        for file in distribution.files or ():
            if ".." in file.parts or file.is_absolute() or (file.suffix == ".pyc" and not file.name.endswith(TAG)):
                continue
            source = Path(str(distribution.locate_file(file)))
            if source.is_file() and file.name not in {"direct_url.json", "INSTALLER", "REQUESTED"}:
                copy_file(source, site / file)
        _write_scripts(root, distribution)
    if not any(one.name == "pip" for one in found):
        _unpack_pip(root, site)


def _unpack_pip(root: Path, site: Path) -> None:
    """Take pip from the interpreter's own bundle: grace may be installed without it."""
    import zipfile

    for wheel in sorted((root / "usr/local/lib" / PYTHON / "ensurepip/_bundled").glob("pip-*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        for name in ("pip", "pip3"):
            _write_script(root, name, "pip._internal.cli.main", "main")


def _write_scripts(root: Path, distribution: metadata.Distribution) -> None:
    for point in distribution.entry_points:
        if point.group == "console_scripts":
            module, _, name = point.value.partition(":")
            _write_script(root, point.name, module.strip(), name.split("[")[0].strip())


def _write_script(root: Path, script: str, module: str, name: str) -> None:
    path = root / "usr/local/bin" / script
    path.write_text(_LAUNCH.format(module=module, name=name))
    path.chmod(0o755)


def _site_packages(interpreter: Path) -> Path:
    """Where the moved interpreter looks for packages: Debian's has its own idea, so it is asked."""
    bases = dict.fromkeys(("base", "platbase", "installed_base", "installed_platbase"), "/usr/local")
    ask = f"import sysconfig; print(sysconfig.get_path('purelib', vars={bases}))"
    return Path(process.run([str(interpreter), "-I", "-S", "-c", ask], env={}).output.strip())


def copy_file(source: Path, target: Path) -> None:
    """Copy what `source` leads to, readable by everybody, without set-id bits."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=True)
    # Set-id bits mean nothing inside, and everybody must be able to read what root installed.
    mode = stat.S_IMODE(target.stat().st_mode) & 0o777
    target.chmod(0o755 if mode & 0o111 else 0o644)
