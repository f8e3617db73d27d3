"""YAML as packets are written: block style, keys in their order, one line a value unless it has several."""

import re
from collections.abc import Mapping
from typing import Any

_UNSEEN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]")
"""Characters that are written as escapes: controls, and line breaks that only YAML takes for such."""


def block(body: Mapping[str, Any]) -> str:
    """Write plain values in full: the same list twice is no alias."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Knows no aliases."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = '"' if _UNSEEN.search(value) else "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)

    Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]
    Dumper.add_representer(str, text)
    written: str = yaml.dump(
        body, Dumper=Dumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=1 << 30
    )
    return written
