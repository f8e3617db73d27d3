"""Row E5 of files that judge: what no folder or glob may open."""

import pytest

from packets.protected import is_protected


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        *((name, "lock file") for name in ("uv.lock", "package-lock.json", "sub/go.sum", "Cargo.lock", "bun.lockb")),
        *(
            (name, "lock file")
            for name in ("pnpm-lock.yaml", "a/gradle.lockfile", ".terraform.lock.hcl", "Package.resolved")
        ),
        *((name, "runner") for name in ("conftest.py", "a/b/conftest.py", "pytest.ini", "tox.ini", "pyproject.toml")),
        *(
            (name, "runner")
            for name in ("setup.cfg", "package.json", "web/jest.config.ts", "vite.config.js", "Cargo.toml")
        ),
        *((name, "runner") for name in (".cargo/config.toml", "PyTest.ini", "phpunit.xml.dist", "x/sitecustomize.py")),
        *(
            (name, "CI")
            for name in (".github/workflows/ci.yml", ".gitlab-ci.yml", "Jenkinsfile", ".circleci/config.yml")
        ),
    ],
)
def test_protected_by_name(path, reason):
    assert reason in (is_protected(path) or "")


@pytest.mark.parametrize(
    "path", ["src/app.py", "locks.py", "tests/test_app.py", ".github/FUNDING.yml", "config.toml", "ci.py"]
)
def test_not_protected(path):
    assert is_protected(path, ["pytest -q"]) is None


@pytest.mark.parametrize(
    ("check", "path"),
    [
        ("sh tools/check.sh", "tools/check.sh"),
        ("./tools/check.sh --fast", "tools/check.sh"),
        ("cd tools && ./check.sh", "tools/check.sh"),
        ("cd tools; sh ../run.sh", "run.sh"),
        ("pytest tests/test_a.py::test_x -q", "tests/test_a.py"),
        ("pytest -c cfg/p.ini", "cfg/p.ini"),
        ("pytest --config-file=cfg/p.ini", "cfg/p.ini"),
        ("python -m tools.check", "tools/check.py"),
        ("python -m tools", "tools/__main__.py"),
        ('python "a b.py"', "a b.py"),
        ("sh -c 'python x.py && true'", "x.py"),
        ("A=1 sh x.sh|tee log", "x.sh"),
        ("make -s test", "Makefile"),
        ("cd web && make", "web/Makefile"),
        ("make -s -C web test", "web/Makefile"),
        ('sh "open quote.sh', "quote.sh"),
    ],
)
def test_protected_because_a_check_names_it(check, path):
    assert "named by the check" in (is_protected(path, [check]) or "")
    assert is_protected(f"other/{path}x", [check]) is None
