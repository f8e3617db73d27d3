import pytest

from reviewer import junit


def report(*cases):
    return f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>".encode()


def test_ids_are_pytest_s_own():
    data = report(
        '<testcase file="tests/test_a.py" classname="tests.test_a" name="test_x"/>',
        '<testcase file="tests/test_a.py" classname="tests.test_a.TestB.TestC" name="test_x[1.5/a]"/>',
        '<testcase classname="shop.cart" name="adds up"/>',
        '<testcase name="alone"/>',
    )
    assert junit.parse(data).passed == [
        "tests/test_a.py::test_x",
        "tests/test_a.py::TestB::TestC::test_x[1.5/a]",
        "shop.cart::adds up",
        "alone",
    ]


def test_the_worst_that_is_said_of_a_test_counts():
    one = '<testcase classname="t" name="a">{}</testcase>'
    found = junit.parse(report(one.format(""), one.format("<error/>"), one.format("<skipped/>")))
    assert (found.passed, found.skipped, found.failed) == ([], [], ["t::a"])
    assert junit.parse(report(one.format("<skipped/>"))).skipped == ["t::a"]
    assert junit.parse(report(one.format("<failure/>"))).failed == ["t::a"]


def test_captured_text_comes_in_order():
    inner = '<testcase name="{0}"><system-out>out {0}</system-out><system-err>err {0}</system-err></testcase>'
    assert junit.captured_text(report(inner.format("a"), inner.format("b"))) == "out a\nerr a\nout b\nerr b"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"<testsuite>", "no XML"),
        (b"", "no XML"),
        (b"\xff\xfe\x00", "no XML"),
        (b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>', "document type"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', "document type"),
        (b"<x>" * 100 + b"</x>" * 100, "too deep"),
        (b"<x>" + b" " * (junit.MOST + 1) + b"</x>", "bigger"),
    ],
    ids=["open", "empty", "binary", "entities", "external", "deep", "big"],
)
def test_what_is_no_honest_report_is_refused(data, why):
    with pytest.raises(junit.BadReport, match=why):
        junit.parse(data)


def test_node_s_own_runner_says_the_titles_around_a_test_as_suites():
    data = b"""<testsuites><testsuite name="outer"><testsuite name="inner thing">
    <testcase name="calls once" classname="test"/></testsuite></testsuite>
    <testcase name="top level" classname="test" file="/repo/a.test.mjs"/></testsuites>"""
    assert junit.parse(data).passed == ["outer::inner thing::calls once", "/repo/a.test.mjs::top level"]
    case = '<testcase file="test.py" classname="test" name="test_x"/>'
    ours = f'<testsuites><testsuite name="pytest">{case}</testsuite></testsuites>'.encode()
    assert junit.parse(ours).passed == ["test.py::test_x"]
