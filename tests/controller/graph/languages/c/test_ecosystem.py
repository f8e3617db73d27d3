# ruff: noqa: E501 - sources and tables under test, a line each
"""Which file an include means."""

import pytest

from controller.graph.language import Files
from controller.graph.languages.c.ecosystem import Includes, ecosystem

PATHS = frozenset((
    "include/shop/money.h", "include/shop/detail/sum.h", "src/money.c", "src/util.h", "src/string.h", "src/net/util.h",
    "src/net/socket.c", "src/net/poll.h", "third/zlib/include/zlib.h", "third/zlib/src/inflate.c", "arch/arm/cpu.h",
    "arch/x86/cpu.h", "kernel/main.c", "one/config.h", "one/a.c", "two/config.h", "two/sub/b.c", "data/table.def", "top.h",
))  # fmt: skip


@pytest.fixture
def includes() -> Includes:
    return ecosystem(Files(PATHS, {}))


@pytest.mark.parametrize(
    ("module", "importer", "place"),
    [
        ("util.h", "src/money.c", "src/util.h"),  # beside the file
        ("util.h", "src/net/socket.c", "src/net/util.h"),
        ("../util.h", "src/net/socket.c", "src/util.h"),
        ("sum.h", "include/shop/money.h", "include/shop/detail/sum.h"),  # the only one of that end
        ("detail/sum.h", "include/shop/money.h", "include/shop/detail/sum.h"),
        ("shop/money.h", "src/money.c", "include/shop/money.h"),
        ("<shop/money.h>", "src/net/socket.c", "include/shop/money.h"),
        ("<zlib.h>", "src/money.c", "third/zlib/include/zlib.h"),
        ("top.h", "src/net/socket.c", "top.h"),
        ("config.h", "one/a.c", "one/config.h"),
        ("config.h", "two/sub/b.c", "two/config.h"),  # the nearest of two
        ("cpu.h", "kernel/main.c", None),  # one for each machine: nobody can say
        ("table.def", "src/money.c", "data/table.def"),
        ("string.h", "src/money.c", "src/string.h"),
        ("<string.h>", "src/money.c", None),  # the system's, whatever lies here
        ("<poll.h>", "src/net/socket.c", None),
        ("missing.h", "src/money.c", None),
        ("/etc/passwd", "src/money.c", None),
        ("../../../../x.h", "src/money.c", None),
        ("", "src/money.c", None),
    ],
)
def test_places(includes: Includes, module: str, importer: str, place: str | None) -> None:
    assert includes.place(module, importer) == place


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("<stdio.h>", ""), ("<vector>", ""), ("<cstdint>", ""), ("<sys/types.h>", ""), ("<windows.h>", ""),
        ("<openssl/ssl.h>", "openssl"), ("<zstd.h>", "zstd"), ("gtest/gtest.h", "gtest"), ("<boost/any.hpp>", "boost"),
        ("<linux/futex.h>", ""), ("<QString>", "QString"),
    ],
)  # fmt: skip
def test_third_party_packages(includes: Includes, module: str, package: str) -> None:
    assert includes.package(module, "src/money.c") == package


def test_names_of_a_plan(includes: Includes) -> None:
    assert includes.anywhere("money.h") == ("include/shop/money.h",)
    assert includes.anywhere("util.h") == ("src/net/util.h", "src/util.h")
    assert includes.anywhere("table.def") == ()
    assert includes.folder("src/money.c") is None
    assert includes.candidates("shop.money") == ()
    assert includes.members("src/") == includes.beside("src/money.c") == ()
