"""Which files are tests, by their path alone."""

import re

_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs", "testdata"})
_NAMES = re.compile(
    r"test_.*\.pyi?|.*_test\.pyi?|tests?\.py|conftest\.py"
    r"|.*\.(?:test|spec)\.[cm]?[jt]sx?|.*_test\.go|.*Tests?\.java|test_.*\.(?:c|cc|cpp)|.*_test\.(?:c|cc|cpp|rs)",
)
_COLLECTED = re.compile(r"test.*\.py|.*_test\.py|tests\.py")


def is_test_path(path: str) -> bool:
    """Say whether it is one of the test files or what stands in a folder of tests: helpers, data, snapshots."""
    *folders, name = path.split("/")
    return bool(_NAMES.fullmatch(name)) or any(folder.lower() in _FOLDERS for folder in folders)


def may_hold_tests(path: str) -> bool:
    """Say whether it is one of the test files, or of a language in which sources hold their own tests."""
    return is_test_path(path) or path.endswith(".rs")


def is_named_test(path: str) -> bool:
    """Say whether a file is a test by its own name, whatever folder it stands in."""
    return bool(_NAMES.fullmatch(path.rpartition("/")[2]))


def is_python_test(path: str) -> bool:
    """Say whether it is one of the Python files whose functions pytest or unittest collect."""
    return bool(_COLLECTED.fullmatch(path.rpartition("/")[2]))


def holds_scenarios(path: str) -> bool:
    """Say whether tests are looked for in it where a whole tree is asked: by its name, or in a source of Rust."""
    return is_python_test(path) or is_named_test(path) or path.endswith(".rs")


def is_prose(path: str) -> bool:
    """Say whether it is one of the documents and data that emit nothing."""
    return path.lower().endswith((".md", ".rst", ".txt", ".adoc", ".json", ".yaml", ".yml", ".csv", ".lock", ".html"))
