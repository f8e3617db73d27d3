import pytest

from packets.outcome import Anomaly, AnomalyKind
from packets.verdict import Severity
from sandbox.git import Entry
from sandbox.git.values import Content


def link(target):
    return Content("120000", target.encode("utf-8", "surrogateescape"))


def codes(verdict):
    return {f.code for f in verdict.errors}


@pytest.mark.parametrize(
    "target",
    ["../engine.py", "./x", "x/../y", "../../README.md", "dangling", "../extra", "a//b", "..."],
)
def test_a_plain_link_that_stays_inside_is_fine(bench, target):
    assert bench.judge(bench.good | {"app/extra/link": link(target)}).errors == ()


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("/etc/passwd", "absolute"),
        ("/repo/app/engine.py", "absolute"),
        ("../../..", "leaves"),
        ("x/../../../../etc", "leaves"),
        ("../../.git", "git's"),
        ("../../.GIT/hooks", "git's"),
        ("../../.git./config", "git's"),
        ("../../.g\u200cit/config", "git's"),
        ("../../.grace/runs", "git's or grace's"),
        ("", "no possible"),
        ("x" * 5000, "no possible"),
        ("a\0b", "no possible"),
    ],
)
def test_f3_one_that_leads_out_is_not(bench, target, why):
    if not target:
        empty = bench.git.write_blob(b"")
        tree = bench.git.write_tree(bench.tree(bench.base, bench.good), {"app/extra/link": Entry("120000", empty)})
        verdict = bench.judge(tree=tree)
    else:
        verdict = bench.judge(bench.good | {"app/extra/link": link(target)})
    (finding,) = verdict.errors
    assert (finding.code, finding.path) == ("integrity.symlink", "app/extra/link")
    assert why in finding.message


def test_links_through_links_are_followed(bench):
    up = {"app/extra/up": link(".."), "app/extra/out": link("up/../../x")}
    assert "integrity.symlink" in codes(bench.judge(bench.good | up))
    inside = {"app/extra/up": link(".."), "app/extra/in": link("up/engine.py")}
    assert codes(bench.judge(bench.good | inside)) == set()
    circle = {"app/extra/a": link("b/x"), "app/extra/b": link("a/x")}
    assert "integrity.symlink" in codes(bench.judge(bench.good | circle))


def test_a_link_of_the_base_that_leads_out_is_not_led_through(bench, monkeypatch):
    monkeypatch.setattr(bench, "base", bench.tree(bench.base, {"ext": link("/opt/x")}))
    assert codes(bench.judge(bench.good)) == set(), "what the base holds is the repository's own"
    assert codes(bench.judge(bench.good | {"app/extra/in": link("../../ext/y")})) == {"integrity.symlink"}


def test_f3_a_file_that_becomes_a_link_is_seen(bench):
    verdict = bench.judge(bench.good | {"app/engine.py": link("/etc/passwd")})
    assert ("integrity.symlink", "app/engine.py") in {(f.code, f.path) for f in verdict.errors}


def test_c1_a_submodule_moves_only_where_the_plan_names_it(bench, monkeypatch):
    monkeypatch.setattr(bench, "base", bench.git.write_tree(bench.base, {"app/extra/lib": Entry("160000", "1" * 40)}))
    moved = bench.git.write_tree(bench.tree(bench.base, bench.good), {"app/extra/lib": Entry("160000", "2" * 40)})
    gone = bench.git.write_tree(moved, {"app/extra/lib": None})
    for tree in (moved, gone):
        assert codes(bench.judge(tree=tree)) == {"integrity.gitlink"}
    assert (
        codes(bench.judge(tree=moved, write_scope=("app/engine.py", "tests/test_engine.py", "app/extra/lib"))) == set()
    )
    assert codes(bench.judge(tree=bench.tree(bench.base, bench.good))) == set()


def test_a_file_that_was_big_may_be_edited(bench, monkeypatch):
    monkeypatch.setattr(bench, "base", bench.tree(bench.base, {"app/extra/big": b"x" * 3000}))
    edited = bench.case(bench.good | {"app/extra/big": b"y" * 3010})
    from reviewer.review import review

    assert review(bench.with_sizes(edited, one=1000)).errors == ()


def test_clashes_with_what_was_there_and_between_folders(bench):
    verdict = bench.judge(
        bench.good | {"app/extra/x.py": "x\n", "APP/y.py": "y\n"}, write_scope=("**", "tests/test_engine.py")
    )
    clash = [f for f in verdict.errors if f.code == "integrity.case_clash"]
    assert [(f.path, f.message) for f in clash] == [("APP", "clashes with app")]


def test_mode_and_content_of_every_plain_kind_are_fine(bench):
    """C8: an executable bit, an empty file, a binary file."""
    files = {
        "app/extra/run": Content("100755", b"#!/bin/sh\n"),
        "app/extra/empty": b"",
        "app/extra/binary": bytes(range(256)),
    }
    assert bench.judge(bench.good | files).errors == ()


def test_what_was_left_without_permissions_is_taken_and_only_noted(bench):
    left = Anomaly(kind=AnomalyKind.UNREADABLE, path="app/engine.py", detail="mode 000; opened to read it")
    verdict = bench.judge(outcome={"anomalies": (left,)})
    found = next(f for f in verdict.findings if f.code == "integrity.unreadable")
    assert found.severity is Severity.NOTE
    assert "part of the result" in found.message
    assert verdict.errors == ()
