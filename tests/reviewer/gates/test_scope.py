import pytest

from sandbox.git.values import Content


def found(verdict):
    return {(f.code, f.path) for f in verdict.errors}


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"app/money.py": None}, "app/money.py"),
        ({"app/money.py": Content("100755", b'SALE = "[Sale]"\n\n\nclass Money:\n    pass\n')}, "app/money.py"),
        ({"app/engine.py/x.py": "x = 1\n", "app/engine.py": None}, "app/engine.py/x.py"),
        ({"-rf": "x"}, "-rf"),
        ({"app/a b\nc.py": "x"}, "app/a b\\nc.py"),
        ({"caf\udce9.txt": "x"}, "caf\\xe9.txt"),
        ({":(glob)app": "x"}, ":(glob)app"),
    ],
)
def test_whatever_differs_is_seen(bench, files, path):
    assert ("scope.outside", path) in found(bench.judge(bench.good | files))


def test_r1_the_trees_are_compared_whatever_was_committed(bench):
    """A worker's own commit is no part of it: the head tree alone is."""
    assert ("scope.outside", "README.md") in found(bench.judge(bench.good | {"README.md": "mine\n"}))


def test_e5_what_judges_is_protected_unless_named(bench):
    files = {"tests/conftest.py": "x = 1\n", "pyproject.toml": "", "tools/check.sh": "exit 0\n"}
    wide = {"write_scope": ("**",)}
    verdict = bench.judge(bench.good | files, expected=("add check sh tools/check.sh",), **wide)
    assert {path for code, path in found(verdict) if code == "scope.protected"} == {*files, "tests/test_engine.py"}
    (hint,) = {f.hint for f in verdict.errors if f.path == "pyproject.toml"}
    assert "pyproject.toml" in hint
    named = {"write_scope": ("**", *files, "tests/test_engine.py")}
    verdict = bench.judge(bench.good | files, **named)
    assert not [code for code, _ in found(verdict) if code == "scope.protected"]


def test_many_paths_are_counted_not_listed(bench):
    verdict = bench.judge(bench.good | {f"out/{n}.txt": "x" for n in range(80)})
    outside = [f for f in verdict.errors if f.code == "scope.outside"]
    assert len(outside) == 51
    assert outside[-1].message == "and 30 more like these"
