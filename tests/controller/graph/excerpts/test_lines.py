import pytest

from controller.graph.excerpts.lines import WIDEST, cut, decorators, documented, fields


def at(text: str, needle: str) -> tuple[list[str], int]:
    """Return the lines of a text, and the number of the one that holds the needle."""
    lines = text.split("\n")
    return lines, next(number for number, line in enumerate(lines, 1) if needle in line)


@pytest.mark.parametrize(
    ("family", "text", "said"),
    [
        ("python", 'def here(a):\n    """Adds.\n\n    More."""\n', "Adds."),
        ("python", 'def here(\n    a: int = 1,  # one:\n) -> int:\n\n    """\n    Adds.\n    """\n', "Adds."),
        ("python", "class here:\n    'Adds.'\n", "Adds."),
        ("python", 'async def here() -> "a:b":\n    r"""Adds."""\n', "Adds."),
        ("python", 'def here(): pass\n"""Not its own."""\n', ""),
        ("python", "# not a docstring\ndef here():\n    pass\n", ""),
        ("go", "// Adds two.\n// More.\nfunc here() {\n", "Adds two."),
        ("go", "// far away\n\nfunc here() {\n", ""),
        ("rust", "/// Adds two.\n#[inline]\npub fn here() {\n", "Adds two."),
        ("java", "/**\n * Adds two.\n * @return sum\n */\n@Override\npublic int here() {\n", "Adds two."),
        ("script", "/** Adds two. */\nexport function here() {\n", "Adds two."),
        ("c", "/* Adds two. */\nint here(void);\n", "Adds two."),
    ],
)
def test_the_first_line_of_what_documents_it(family: str, text: str, said: str) -> None:
    assert documented(*at(text, "here"), family) == said


def test_decorators_and_attributes_right_above() -> None:
    assert decorators(*at("@far\n\n@app.route('/x')\n@cached\ndef here():\n", "here")) == [
        "@app.route('/x')",
        "@cached",
    ]
    assert decorators(*at("#[derive(Debug)]\npub struct here {\n", "here")) == ["#[derive(Debug)]"]
    assert decorators(["def here():"], 1) == []


PYTHON = """
class here(B):
    '''Doc: no field.'''

    a: int
    b = 1
    _c = 1
    def c(self):
        d = 2
e = 3
"""
GIVEN = """
class here:
    def __init__(self, a):
        self.a: int = a
        self._b = 1
        self.c = 2
    def d(self):
        self.e = 1
"""
GO = """
type here struct {
\t// Who.
\tName string
\tage  int // years
\tinner struct {
\t\tx int
\t}
}
var y int
"""
RUST = """
pub struct here {
    pub name: String,
    /// Years.
    age: u8,
}
struct Next { x: u8 }
"""
JAVA = """
class here {
    public final int a = 1;
    @Inject
    String b;
    private int hidden;
    int c() {
        return 2;
    }
}
"""


@pytest.mark.parametrize(
    ("family", "text", "shown"),
    [
        ("python", PYTHON, ["a: int", "b = 1"]),
        ("python", GIVEN, ["self.a: int = a", "self.c = 2"]),
        ("python", 'class here:\n    """Doc\n\n    x = 1\n    """\n    pass\n', []),
        ("go", GO, ["Name string", "age  int // years"]),
        ("rust", RUST, ["pub name: String,", "age: u8,"]),
        ("script", "interface here {\n  name: string;\n  age?: number;\n}\n", ["name: string;", "age?: number;"]),
        ("java", JAVA, ["public final int a = 1;", "String b;"]),
        ("c", "struct here {\n    int a;\n    char *b;\n};\nint c;\n", ["int a;", "char *b;"]),
        ("c", "struct here;\nint c;\n", []),
    ],
)
def test_fields(family: str, text: str, shown: list[str]) -> None:
    lines, line = at(text, "here")
    taken = {number for number, each in enumerate(lines, 1) if "c()" in each}
    assert fields(lines, line, family, taken) == shown


def test_what_is_long_is_cut() -> None:
    assert cut("x" * WIDEST) == "x" * WIDEST
    assert len(cut("x" * (WIDEST + 1))) == WIDEST
    many = "class here:\n" + "".join(f"    a{number}: int\n" for number in range(999))
    assert len(fields(*at(many, "here"), "python", ())) == 12


@pytest.mark.parametrize("family", ["python", "go"])
@pytest.mark.parametrize("text", ["", "(" * 9000, '"' * 9000, "{" * 9000, "\n" * 9000, "/*" * 9000, "'''", "\x00"])
def test_hostile_lines_are_borne(family: str, text: str) -> None:
    lines = f"class here:{text}".split("\n")
    for line in (1, len(lines), len(lines) + 7):
        assert len(documented(lines, line, family)) <= WIDEST
        assert len(fields(lines, line, family, ())) <= 12
        assert len(decorators(lines, line)) <= 4
