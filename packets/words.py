"""The kinds of text that a plan holds, each with the rule it follows and what is said when it does not."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from packets.ids import MODULE_ID, module_id_fault
from packets.scope import parse_entry


def _module_id(text: str) -> str:
    if fault := module_id_fault(text):
        raise ValueError(f"bad module id {text[:60]!r}: {fault}")
    return text


_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_REMOTE = r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}"
_AUTHOR = r"[^<>\s](?:[^<>\n]*[^<>\s])? <[^<>\s]+>"


def _name(text: str) -> str:
    if not re.fullmatch(_NAME, text):
        raise ValueError(
            f"bad name {text[:80]!r}: use at most 64 letters, digits, '_', '.', '-', e.g. seasonal-coupons"
        )
    return text


def _author(text: str) -> str:
    if not re.fullmatch(_AUTHOR, text):
        raise ValueError(f"bad author {text[:80]!r}: write `Name <mail>`")
    return text


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("expected something besides blanks")
    return text


def _scope_entry(text: str) -> str:
    parse_entry(text)
    return text


def _revision(text: str) -> str:
    if text.startswith("-") or text != text.strip() or ".." in text:
        raise ValueError(f"bad revision {text[:60]!r}: name a branch, a tag or a commit")
    return text


def _branch(text: str) -> str:
    # What `git check-ref-format --branch` refuses, and grace's own branches.
    if re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/]|[/.]$|(^|/)\.|\.lock(/|$)|^(@|HEAD)$", text):
        raise ValueError(f"bad branch name {text[:60]!r}")
    if text.startswith(("grace/", "refs/")):
        raise ValueError(f"bad branch name {text[:60]!r}: `grace/` and `refs/` are kept for grace and git")
    return text


def _remote(text: str) -> str:
    if not re.fullmatch(_REMOTE, text) or ".." in text:
        raise ValueError(f"bad remote {text[:60]!r}: name one of those that `git remote` lists, not an address")
    return text


ModuleId = Annotated[
    str,
    AfterValidator(_module_id),
    WithJsonSchema({"type": "string", "pattern": f"^{MODULE_ID.pattern}$", "maxLength": 100}),
]
Name = Annotated[str, AfterValidator(_name), WithJsonSchema({"type": "string", "pattern": f"^{_NAME}$"})]
Line = Annotated[str, Field(min_length=1, max_length=4000), AfterValidator(_said)]
"""Text of one line's worth."""
ScopeEntry = Annotated[str, Field(min_length=1), AfterValidator(_scope_entry)]
Revision = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_revision)]
Branch = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_branch)]
Remote = Annotated[str, AfterValidator(_remote), WithJsonSchema({"type": "string", "pattern": f"^{_REMOTE}$"})]
Author = Annotated[str, Field(max_length=200), AfterValidator(_author)]
