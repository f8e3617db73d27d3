"""Real input: the difference between two releases of a public package, built as a plan and landed to the byte."""

import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

HASHES = {
    "click-8.1.7": "ca9853ad459e787e2192211578cc907e7594e294c7ccc834310722b41b9ca6de",
    "click-8.1.8": "ed53c9d8990d83c2a27deae68e4ee337473f6330c040a31d4225c9574d16096a",
    "humanize-4.9.0": "582a265c931c683a7e9b8ed9559089dea7edcf6cc95be39a3cbc2c5d5ac2bcfa",
    "humanize-4.10.0": "06b6eb0293e4b85e8d385397c5868926820db32b9b654b932f57fa41c23c9978",
}
# What the packages' tests need. The older humanize is there for its metadata: the newer tests fail against its code.
RELEASES = {
    "click": ("click-8.1.7", "click-8.1.8", ["pip install pytest==8.3.4"]),
    "humanize": ("humanize-4.9.0", "humanize-4.10.0", ["pip install pytest==8.3.4 freezegun coverage humanize==4.9.0"]),
}


def source(release: str, into: Path) -> Path:
    """Download one pinned source release and unpack it."""
    name, _, version = release.rpartition("-")
    wanted = f"{name}=={version}"
    pip = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name, "--dest", into]
    subprocess.run([*pip, wanted], check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    archive = into / f"{release}.tar.gz"
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == HASHES[release]
    with tarfile.open(archive) as opened:
        opened.extractall(into, filter="data")
    return into / release


def commit(repo, release: Path) -> str:
    """Commit the release's files, and nothing else, whatever its .gitignore says; returns the commit."""
    repo.git("rm", "-rq", "--cached", "--ignore-unmatch", ".")
    repo.git(f"--work-tree={release}", "add", "-A", "-f", ".")
    repo.git("commit", "-q", "--no-verify", "-m", release.name)
    return repo.head


@pytest.mark.parametrize("package", RELEASES)
@pytest.mark.usefixtures("docker_engine")
def test_a_release_is_built_from_its_difference(repo, tmp_path, package):
    older, newer, setup = RELEASES[package]
    downloads, folder = tmp_path / "downloads", tmp_path / "plan"
    downloads.mkdir()
    base = commit(repo, source(older, downloads))
    wanted = commit(repo, source(newer, downloads))
    repo.git("reset", "-q", "--hard", base)
    repo.git("clean", "-ffdxq")
    derive = Path(__file__).with_name("derive_plan.py")
    subprocess.run([sys.executable, "-P", derive, repo.path, base, wanted, folder], check=True)
    plan = yaml.safe_load((folder / "plan.yaml").read_text())
    tests = "PYTHONPATH=src python3 -m pytest -q tests"
    plan |= {"sandbox": "docker", "defaults": {"limits": {"attempts": 1}}, "image": {"setup": setup}}
    plan["phases"][0]["checks"] = [tests]
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))

    repo.grace("run", folder / "plan.yaml", "--yes", timeout=400).exits(0)

    assert repo.tree() == repo.tree(wanted), "byte and mode"
    assert repo.git("status", "--porcelain", "--ignored") == "!! .grace/", "the checkout shows it, and nothing else"
    assert {m["state"] for m in repo.status()["modules"]} == {"done"}
    check = phase_check(repo, tests)
    assert check["exit_code"] == 0
    assert len(check["scenarios_passed"]) > 400
    assert check["scenarios_failed"] == []
    assert repo.leftovers() == []


def phase_check(repo, command):
    """Find the phase's check among everything that the run wrote down."""
    events = repo.grace("events", repo.status()["run_id"], "--json").exits(0).events
    text = json.dumps(events)
    assert command in text, "the package's own tests ran as phase check"
    found = [c for e in events for c in e.get("data", e).get("checks", []) if c.get("command") == command]
    return found[-1]
