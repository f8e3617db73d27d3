"""A worker's root filesystem from this machine's own files: python, git, pytest, a shell and the usual tools.

Programs come with the libraries `ldd` names (mechanics: 0.7 s, no registry, no root). Python is moved to /usr/local,
wherever it lives here (the system's, pyenv, conda), so that every user inside can run it.
"""

import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from packets.errors import MachineLacks
from sandbox import image_packages, process
from sandbox.image_packages import PYTHON, TAG, copy_file
from sandbox.image_store import PLACES

_SEARCH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"
_NEEDED = ("git", "sh", "env", "cat", "cp", "mv", "rm", "ls", "mkdir", "sed", "grep", "find", "tar")
_WANTED = """
bash [ awk base64 basename bzip2 chmod chown cksum cmp comm cut date dd df diff diff3 dirname du echo egrep expand expr
false fgrep file fold getconf getent gunzip gzip head hostname id install join kill less link ln locale make md5sum
mkfifo mktemp nice nl nohup nproc od paste patch pgrep pkill printenv printf ps pwd readlink realpath rmdir seq setsid
sha1sum sha256sum sha512sum shuf sleep sort split stat sync tac tail tee test timeout touch tr true truncate tsort tty
uname unexpand uniq unlink wc which who whoami xargs xz yes zcat
"""
_SKIP_STDLIB = {
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idlelib",
    "turtledemo",
    "tkinter",
    "EXTERNALLY-MANAGED",
}
_SKIP_ZONES = {"right", "posix"}
PATH = "/usr/local/bin:/usr/bin:/bin"


def interpreter() -> Path:
    """Return the base interpreter behind the one that runs grace (never a virtual environment's link)."""
    base = Path(getattr(sys, "_base_executable", "") or sys.executable)
    return base.resolve()


def sources() -> tuple[Path, ...]:
    """Name the files whose change makes a new image: the cache's key is their status."""
    distributions = [Path(str(one.locate_file(""))) / one.name for one in image_packages.distributions()]
    versions = [Path(f"{one.name}=={one.version}") for one in image_packages.distributions()]
    return (interpreter(), *(path for _, path in _tools()), *distributions, *versions)


def assemble(root: Path) -> None:
    """Fill the empty folder `root`. Raises MachineLacks when this machine has no git or no pytest."""
    for place in ("usr/bin", "usr/lib", "usr/lib64", "usr/local/bin", "usr/local/lib", *PLACES):
        (root / place).mkdir(parents=True, exist_ok=True)
    for link, target in (("bin", "usr/bin"), ("sbin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")):
        (root / link).symlink_to(target)
    (root / "usr/sbin").symlink_to("bin")
    (root / "var/tmp").symlink_to("/tmp")  # noqa: S108 - inside
    (root / "tmp").chmod(0o1777)
    programs = [*_copy_tools(root), *_copy_git(root), *_copy_python(root)]
    _copy_libraries(root, programs)
    _copy_data(root)
    _write_etc(root)
    image_packages.copy(root, interpreter())


def _tools() -> Iterator[tuple[str, Path]]:
    for name in (*_NEEDED, *_WANTED.split()):
        found = shutil.which(name, path=_SEARCH) or (shutil.which(name) if name in _NEEDED else None)
        if found:
            yield name, Path(found).resolve()
        elif name in _NEEDED:
            raise MachineLacks(f"this machine has no {name!r}, which the worker image needs", "install it")


def _copy_tools(root: Path) -> Iterator[Path]:
    first: dict[Path, str] = {}
    for name, source in _tools():
        target = root / "usr/bin" / name
        if source in first:  # coreutils in one binary, shells under two names: once is enough
            target.symlink_to(first[source])
            continue
        first[source] = name
        copy_file(source, target)
        yield source


def _copy_git(root: Path) -> Iterator[Path]:
    """Copy git's helper programs that are no links to git itself, and its templates."""
    git = Path(shutil.which("git", path=_SEARCH) or shutil.which("git") or "git").resolve()
    folder = Path(process.run([str(git), "--exec-path"]).output.strip())
    inside = root / folder.relative_to("/")
    inside.mkdir(parents=True, exist_ok=True)
    for source in sorted(folder.iterdir()):
        if (
            not source.is_file()
            or source.suffix in {".perl", ".py"}
            or source.name in {"git-daemon", "git-http-backend"}
        ):
            continue
        if source.resolve() == git or source.samefile(git):
            (inside / source.name).symlink_to("/usr/bin/git")
        elif source.is_symlink() and source.resolve().parent == folder:
            (inside / source.name).symlink_to(source.resolve().name)
        else:
            copy_file(source, inside / source.name)
            yield source
    templates = Path("/usr/share/git-core/templates")
    if templates.is_dir():
        shutil.copytree(templates, root / "usr/share/git-core/templates", symlinks=True, dirs_exist_ok=True)


def _copy_python(root: Path) -> Iterator[Path]:
    source = interpreter()
    binary = root / "usr/local/bin" / PYTHON
    copy_file(source, binary)
    yield source
    for name in ("python3", "python"):
        (root / "usr/local/bin" / name).symlink_to(PYTHON)
    (root / "usr/bin/python3").symlink_to("/usr/local/bin/python3")
    library = root / "usr/local/lib" / PYTHON
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    folders = {
        Path(
            sysconfig.get_path(
                key, vars={**base, "installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
            )
        )
        for key in ("stdlib", "platstdlib")
    }
    for folder in sorted(folders):
        if (folder / "encodings").is_dir() or (folder / "lib-dynload").is_dir():
            shutil.copytree(folder, library, symlinks=False, ignore=_no_ballast, dirs_exist_ok=True)
            yield from sorted((folder / "lib-dynload").glob("*.so"))


def _no_ballast(folder: str, names: list[str]) -> set[str]:
    skip = {name for name in names if name in _SKIP_STDLIB or name.startswith("config-")}
    if folder.endswith("__pycache__"):
        skip |= {name for name in names if not name.endswith(TAG)}
    return skip


def _copy_libraries(root: Path, programs: Iterable[Path]) -> None:
    home = None
    libraries = sorted(set(_closure(programs)))
    for library in libraries:
        if library.name.startswith("libc.so"):
            home = library.parent
    for library in libraries:
        _place_library(root, library)
    if home is None:
        raise MachineLacks("ldd names no C library for this machine's programs", "name an image: `image: {name: …}`")
    extra = [*home.glob("libnss_*.so.2"), *home.glob("libgcc_s.so.1"), *home.glob("libresolv.so.2")]
    for library in extra:
        _place_library(root, library)


def _place_library(root: Path, library: Path) -> None:
    prefix = Path(sys.base_prefix)
    target = root / _merged(library).relative_to("/")
    if library.is_relative_to(prefix) and prefix != Path("/usr"):
        inside = root / "usr/local" / library.relative_to(prefix)
        if not inside.exists():
            copy_file(library.resolve(), inside)
        # Absolute run paths (pyenv's shared builds) look where python lies here.
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to("/" + str(inside.relative_to(root)))
    elif not target.exists():
        copy_file(library.resolve(), target)


def _merged(library: Path) -> Path:
    """Say /usr/lib for /lib: the root filesystem is a merged one."""
    parts = library.parts
    return Path("/usr", *parts[1:]) if len(parts) > 1 and parts[1].startswith("lib") else library


def _closure(programs: Iterable[Path]) -> Iterator[Path]:
    listed = [str(path) for path in programs]
    for start in range(0, len(listed), 200):
        # ldd answers 1 for scripts and static programs among them; its lines are what counts
        output = process.run(["ldd", *listed[start : start + 200]], env={"LC_ALL": "C", "PATH": _SEARCH}).output
        for match in re.finditer(r"^\s+(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", output, re.MULTILINE):
            yield Path(match[1])


def _copy_data(root: Path) -> None:
    zones = Path("/usr/share/zoneinfo")
    if zones.is_dir():
        shutil.copytree(
            zones, root / "usr/share/zoneinfo", symlinks=True, ignore=lambda _, names: _SKIP_ZONES & set(names)
        )
    for name in ("C.utf8", "C.UTF-8"):
        locale = Path("/usr/lib/locale") / name
        if locale.is_dir():
            shutil.copytree(locale, root / "usr/lib/locale" / name, symlinks=False, dirs_exist_ok=True)
    certificates = root / "etc/ssl/certs/ca-certificates.crt"
    certificates.parent.mkdir(parents=True)
    bundle = _certificates()
    if bundle:
        shutil.copyfile(bundle, certificates)
        (root / "etc/ssl/cert.pem").symlink_to("certs/ca-certificates.crt")
    release = Path("/etc/os-release")
    if release.exists():
        shutil.copyfile(release, root / "etc/os-release")


def _certificates() -> Path | None:
    """Return the public bundle of certifi: this machine's own may hold authorities that are nobody else's business."""
    import certifi

    path = Path(certifi.where())
    return path if path.exists() else None


def _write_etc(root: Path) -> None:
    files = {
        "passwd": "root:x:0:0:root:/root:/bin/sh\ngrace:x:1000:1000:grace:/home/grace:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/:/bin/false\n",
        "group": "root:x:0:\ngrace:x:1000:\nnogroup:x:65534:\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "hostname": "grace\n",
        "resolv.conf": "",
        # Trees inside belong to whoever runs the job; git must not mind another owner there.
        "gitconfig": "[safe]\n\tdirectory = *\n",
        "profile": f"PATH={PATH}\nexport PATH\n",
    }
    for name, text in files.items():
        (root / "etc" / name).write_text(text)
