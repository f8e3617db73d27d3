"""go.mod and go.work as the go command reads them."""

from controller.graph.language import facts, kind_of


def said(text: str, name: str = "go.mod") -> dict[str, str]:
    return dict(facts(kind_of(f"a/{name}"), text.encode()).settings)


def test_module_require_and_replace() -> None:
    found = said(
        """
        // comment
        module "example.com/shop" // its name
        go 1.22
        require (
            example.com/a v1.0.0 // indirect
            example.com/b/v2 v2.0.0
        )
        require example.com/c v1.0.0
        replace example.com/a => ../a
        replace (
            example.com/b/v2 v2.0.0 => ./b
            example.com/c => example.com/fork v1.2.3
        )
        exclude example.com/d v1.0.0
        """
    )
    assert found == {
        "module": "example.com/shop",
        "require": "example.com/a\nexample.com/b/v2\nexample.com/c",
        "replace": "example.com/a => ../a\nexample.com/b/v2 => ./b\nexample.com/c => example.com/fork",
    }


def test_workspace() -> None:
    assert said("go 1.22\nuse ./a\nuse (\n  ./b\n  .\n)\n", "go.work") == {"use": "./a\n./b\n."}


def test_anything_else_says_nothing() -> None:
    for text in ("", "\0\xff", "((((", "require (", "module", "replace => =>", "module (\n)\n", '"' * 10_000):
        said(text)
    assert said("") == {}
