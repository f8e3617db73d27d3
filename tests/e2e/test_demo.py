"""The main job on the bundled example, as a user meets it: one script, both engines."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "Pricing/CouponStackingPolicy",
    "Customers/LoyaltyProgram",
    "Pricing/DiscountEngine",
    "Checkout/Receipt",
}


def demo(folder: Path, **env: str) -> str:
    done = subprocess.run(
        [ROOT / "scripts" / "demo"],
        env={**os.environ, "GRACE_DEMO_FOLDER": str(folder), **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("engine", "env"),
    [("docker", {}), ("bubblewrap", {"DOCKER_HOST": "unix:///nonexistent/docker.sock"})],
    ids=["docker", "bubblewrap"],
    indirect=["engine"],
)
def test_the_demo(tmp_path, engine, env):
    folder = tmp_path / "shop"
    said = demo(folder, **env)

    assert engine in said, "the engine in use is said"
    for module in MODULES:
        assert module in said
    assert "marker.missing" in said, "the rejected attempt is shown with its finding"
    landed = git(folder, "log", "--format=%B", "main")
    assert set(re.findall(r"^\s*Grace-Module: (\S+)", landed, re.MULTILINE)) == MODULES
    engine_file = git(folder, "show", "main:app/domain/pricing/discount_engine.py")
    assert "[Pricing][DiscountEngine][STACKING_GUARD]" in engine_file
    assert git(folder, "status", "--porcelain") == ""
    assert (folder / "app" / "receipt.py").is_file(), "the user's checkout shows what landed"
    assert said.rstrip().endswith("nothing"), "nothing is left over"
