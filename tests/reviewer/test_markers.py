import pytest

from reviewer.markers import Output, emits

MARKER = "[Pricing][Engine][GUARD]"


@pytest.mark.parametrize(
    "code",
    [
        f'log.info("{MARKER} on")',
        f"log.info('on: {MARKER}')",
        'log.info(f"{PREFIX}[GUARD] {x}")',
        'log.info(f"[Pricing]{part}[GUARD]")',
        'log.info("%s[GUARD] %d" % (prefix, n))',
        'log.info("[Pricing][{}][GUARD]".format(name))',
        'log.info("[Pricing]" "[Engine]" "[GUARD]")',
        f'GUARD = "{MARKER}"',
        f'log.info(f"{MARKER} {{x}}")',
    ],
)
def test_python_source_that_can_emit_it(code):
    assert emits("app/x.py", f"x = 1\n{code}\n".encode(), MARKER) == 2


@pytest.mark.parametrize(
    "code",
    [
        f"# {MARKER}",
        f'"""{MARKER}"""',
        f'def f():\n    """{MARKER}"""',
        'log.info("[GUARD]")',
        'log.info(f"{anything}")',
        'log.info(f"[Shipping]{part}[Other][GUARD]")',
        'log.info("[Pricing][Engine][OTHER]")',
        'log.info(f"{x}[Tax][GUARD]")',
    ],
)
def test_python_source_that_cannot(code):
    assert emits("app/x.py", f"{code}\n".encode(), MARKER) == 0


def test_other_languages_need_it_as_it_is():
    assert emits("src/x.ts", f"\nconsole.log('{MARKER} on')".encode(), MARKER) == 2
    assert emits("src/x.ts", b"console.log(`${p}[GUARD]`)", MARKER) == 0


def test_order_within_one_stream_or_over_all():
    output = Output((("a", "one\ntwo\n"), ("b", "three\nbefore one\n")))
    assert output.in_order(["one", "two"])
    assert output.in_order(["two", "three"])
    assert not output.in_order(["three", "two"])
    assert output.in_order([])
    assert output.place_of("three") == "b: three"
    assert output.place_of("before") == "b: before one"
    assert output.place_of("never") is None


def test_two_equal_markers_need_two_places():
    assert not Output((("a", "x"),)).in_order(["x", "x"])
    assert Output((("a", "x x"),)).in_order(["x", "x"])
