"""What a change of a signature breaks, language by language."""

import pytest

from controller.graph.parameters import Parameters, broken, parameters


def why(path: str, before: str, after: str, *, method: bool = False) -> str | None:
    old, new = (parameters(each, path, method=method) for each in (before, after))
    return broken(old, new) if old and new else None


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("def f(a, b)", "def f(a, b)", ""),
        ("def f(a, b)", "def f(a: int, b: str) -> None", ""),
        ("def f(a)", "def f(a, b=1)", ""),
        ("def f(a)", "def f(a, *args, **kw)", ""),
        ("def f(a)", "def f(a, b)", "needs b now"),
        ("def f(a, b=1)", "def f(a, b)", "needs b now"),
        ("def f(a, b)", "def f(a)", "no longer takes b"),
        ("def f(a, b)", "def f(a, **kw)", ""),
        ("def f(a, b)", "def f(a, c)", "b is called c now"),
        ("def f(a, b)", "def f(b, a)", "takes its arguments in another order"),
        ("def f(a, b)", "def f(a, *, b)", "takes b by name only now"),
        ("def f(a, *, b=1)", "def f(a, *, c=1)", "no longer takes b"),
        ("def f(a, *args)", "def f(a)", "no longer takes any number of arguments"),
        ("def f(a: dict[str, int] = {'x': 1, 'y': 2}, b=(1, 2))", "def f(a: dict[str, int] = {}, b=())", ""),
        ("def f(a='x, y', /, b=lambda x, y: x == y)", "def f(a='', /, b=None)", ""),
        ("def f(a, b", "def f(a)", None),
    ],
)
def test_python(before: str, after: str, said: str | None) -> None:
    assert why("a.py", before, after) == said


def test_the_object_itself_is_no_argument() -> None:
    assert parameters("def f(self, a)", "a.py", method=True) == Parameters(("a",), by_name=True)
    assert parameters("def f(self, a)", "a.py") == Parameters(("self", "a"), by_name=True)
    assert parameters("pub fn f(&mut self, a: T)", "a.rs", method=True) == Parameters(("a",))


ONE_OF_TWO = "takes 1 instead of 2 arguments at most"


@pytest.mark.parametrize(
    ("path", "before", "after", "said"),
    [
        ("a.ts", "function f(a: number, b?: string)", "function f(a: number, b?: string, c = 1)", ""),
        ("a.ts", "function f(a: number)", "function f(x: number)", ""),
        ("a.ts", "function f(a: number, b?: string)", "function f(a: number, b: string)", "needs b now"),
        ("a.ts", "f(a: (x: number, y: number) => void)", "f(a: () => void, b: string)", "needs b now"),
        ("a.js", "function f(a, ...rest)", "function f(a)", "no longer takes any number of arguments"),
        ("a.js", "function f({a, b}, c)", "function f({a})", "takes 1 instead of 2 arguments at most"),
        ("a.go", "func (m *Money) Add(a, b int)", "func (m *Money) Add(a int, b int)", ""),
        ("a.go", "func Add(a int)", "func Add(ctx context.Context, a int) error", "needs ctx now"),
        ("a.go", "func Add(a int, more ...int)", "func Add(a int)", "no longer takes any number of arguments"),
        ("a.rs", "pub fn f(a: &str)", "pub fn f<T>(a: &str, b: Vec<(T, T)>)", "needs b now"),
        ("A.java", "public int f(int a, Map<String, Integer> b)", "public int f(int a)", ONE_OF_TWO),
        ("A.java", "int f(String... a)", "int f(String... b)", ""),
        ("a.c", "int f(void)", "int f(int a)", "needs a now"),
        ("a.cpp", "int f(int a, int b = 2)", "int f(int a, int b = 2, int c = 3)", ""),
        ("a.h", "void f(int (*cb)(int, int), void *p)", "void f(int (*cb)(int, int))", ONE_OF_TWO),
    ],
)  # fmt: skip
def test_elsewhere_places_count_and_names_do_not(path: str, before: str, after: str, said: str) -> None:
    assert why(path, before, after) == said
