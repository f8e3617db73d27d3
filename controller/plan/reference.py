"""docs/plan.md: every key of a plan, from the descriptions in its JSON Schema, and every code of a plan's problems."""

import json
from collections.abc import Iterator
from typing import Any

_INTRO = """\
# The plan

*Generated from the models by `python -P -m controller.plan.schema`; a test holds it current.*

A plan is one YAML file, by custom `plan.yaml`. `grace init` writes one that fits the repository it stands in, `grace
plan check` says everything that is wrong with it, each with its line, and `grace plan show --format
text|json|mermaid|dot` shows what grace makes of it: the waves and why, what each module may write, where a person is
asked.

```yaml
# yaml-language-server: $schema=.grace/plan.schema.json
version: 1
name: seasonal-coupons
agents:
  engine: {kind: patch, patch: patches/engine.diff}
phases:
  - id: pricing
    checks: ["pytest -q"]
    modules:
      - id: Pricing/DiscountEngine
        purpose: Add seasonal coupon stacking guard
        write_scope: [app/pricing/discount_engine.py, tests/test_discount_engine.py]
        verification: {module_local_checks: ["pytest tests/test_discount_engine.py -q"]}
        expected_deltas:
          graph: ["DiscountEngine -> CouponStackingPolicy"]
          verification: ["add scenario seasonal_coupon_plus_loyalty"]
```
"""

_RULES = """\
## What may be written

An entry of `write_scope` is a path from the repository's root; it never leaves the repository.

| entry | means |
|---|---|
| `app/money.py` | that file |
| `app/` | the folder with all in it; in an entry without the `/` at its end, `app` is a file |
| `app/*.py` | `*` is any run of characters but `/`, `?` is one of them |
| `app/**/fixtures/` | `**` is any number of folders, also none |
| `app/[id].tsx` | that file: there are no character classes, and no negation |
| `a\\*b` | the file `a*b`: `\\` takes the next character as it is |

- Two modules of a phase whose scopes overlap need a dependency between them; this is decided exactly, and the plan is
  refused with a path that both may write and the line to add. A file of one that the other needs as a folder is an
  overlap too.
- `.git`, `.grace` and the plan itself are in no scope.
- **Protected files** may be changed only by a module whose scope names the very file: lock files (`*.lock`,
  `package-lock.json`, `go.sum`, …), configuration of test runners (`conftest.py`, `pytest.ini`, `tox.ini`,
  `jest.config.*`, …, and files that hold it beside other things: `pyproject.toml`, `setup.cfg`, `package.json`,
  `Cargo.toml`, …), configuration of CI, and the files that a check names in its command.

## What is expected of the graph

| line | is met when |
|---|---|
| `A -> B` | something inside A comes to depend on something inside B, and nothing inside A did before |
| `not A -> B` | something inside A depended on something inside B, and nothing does any more |
| `add A` | A is there, and was not |
| `remove A` | A was there, and is not |

A name is the first of these that fits, and stands for all that is defined in what it names:

| name | means |
|---|---|
| `app/money.py::Money.add` | that definition of that file; `app/money.py::add` will do for the only `add` of it |
| `Pricing/Money` | a module of the plan or of `modules_map`: all files of its scope |
| `app/money.py`, `app/pricing/` | a file, a folder with all beneath |
| `app.money.Money`, `Money.add` | a dotted name in any language, whole or its end; `money::Money` is read the same |
| `Money` | the only top-level definition of that name, else the only member |
| `Money`, `money`, `requests` | else the last part of a module's id, the bare name of a file, a package from outside |

A name that fits several things is an error that lists them with their lines. So is a path, a dotted name or a module
that is not there and that no write scope up to this module may bring; the nearest name that there is is suggested. A
bare name that nothing bears yet is taken for one that the plan brings: it is looked up again in the result, and unmet
if it is still not there. Where it is nearly the name of something else, or is to be removed from a base that does not
have it, `plan check` warns (`plan.pending_name`). The names in a worker's claims are read in the same way.

A dependency on a module that `depends_on` does not name rejects the attempt, with the line to add. It counts by what
the code names: an import, a base class, an annotation, a name that another file re-exports (then that file's module is
what must be declared). What is inherited, or handed over by a module that may be used, is up to that module.

A first import of a third-party package is a note. It is an error where the repository has manifests of that language
(`pyproject.toml`, `setup.cfg`, `requirements*.txt`, …, `package.json`, `go.mod`, `Cargo.toml`) and none of them names
the package: name it there, or expect it (`app/fetch.py -> httpx`). Imports in a `try` or for type checkers only stay
notes, as do those of Java and C, which do not say what their package is called.

## YAML, but less of it

One document of plain data in UTF-8, at most 1 MiB: no tags, no anchors, aliases or merge keys (they make small files
expand without bound, and give one value two places), no key twice, no control characters. Plain values follow YAML 1.2:
only `true` and `false` are truth values, and `yes`, `on`, `010`, `1:30` and dates are text. Text that looks like a
number needs quotes. The digest of a plan does not change with comments, order of keys, or the way values are written.
"""

CODES = {
    "plan.agent_env": "an environment variable that cannot be set",
    "plan.agent_uncommitted": "warning: an agent names a file that the base commit lacks or has otherwise",
    "plan.always_asked": "note: a person is asked in any case, also under `--yes`",
    "plan.bad_character": "a control character, written or escaped",
    "plan.bad_expectation": "an expected delta that does not follow the grammar",
    "plan.bad_key": "a key that is no text",
    "plan.bad_permission": "a permission that cannot be kept, or that would let a push go unasked",
    "plan.bad_value": "a value of the wrong kind, or outside its limits",
    "plan.base_unknown": "`base` names no commit of the repository",
    "plan.cycle": "modules that depend on each other",
    "plan.depends_on_later": "a dependency on a module of a later phase",
    "plan.dockerfile_missing": "the Dockerfile is not there",
    "plan.dockerfile_outside": "the Dockerfile lies outside the plan's folder",
    "plan.duplicate_id": "an id, of a module or a phase, that is taken",
    "plan.duplicate_key": "a key that is there twice",
    "plan.empty": "there is nothing in the file",
    "plan.encoding": "the file is not UTF-8",
    "plan.id_is_folder": "an id that is the beginning of another: git cannot hold both branches",
    "plan.many_documents": "more than one document",
    "plan.map_nothing": "an entry of modules_map that matches nothing in the base",
    "plan.marker_conflict": "a marker that is required and forbidden",
    "plan.missing_key": "a key that must be there",
    "plan.more": "there are more problems than are shown",
    "plan.no_agent": "nobody is named to work on a module",
    "plan.no_checks": "warning: nothing verifies a module",
    "plan.patch_missing": "a patch file is not there",
    "plan.patch_outside": "a patch file lies outside the plan's folder",
    "plan.pending_name": "warning: a name in an expected delta that nothing bears yet, and that looks like a slip",
    "plan.protected_judge": "warning: a check names a file that the scope only covers, so the module may not change it",
    "plan.protected_named": "note: a module may change a protected file, because its scope names it",
    "plan.push_denied": "a remote to push to, while the permissions say `push: deny`",
    "plan.scope_blocked": "a path beneath a file, a symbolic link or a submodule",
    "plan.scope_has_plan": "a module could write the plan itself",
    "plan.scope_is_folder": "an entry without `/` at its end that is a folder in the base",
    "plan.scope_new_folder": "warning: a folder that is not there, while one of nearly that name is",
    "plan.scope_overlap": "two modules may write the same path, and neither waits for the other",
    "plan.scope_too_complex": "scopes with too much in common to compare",
    "plan.too_deep": "nested too deep",
    "plan.too_large": "the file is too large, or holds too many values",
    "plan.undeclared_edge": "warning: an expected edge leads to a module that `depends_on` does not name",
    "plan.unknown_agent": "an agent that is not described",
    "plan.unknown_dependency": "a dependency on a module that is neither in the plan nor in modules_map",
    "plan.unknown_key": "a key that grace does not know",
    "plan.unknown_remote": "a remote that the repository does not have",
    "plan.unknown_name": "a name in an expected delta that is ambiguous or not to be found",
    "plan.yaml_alias": "an anchor or an alias",
    "plan.yaml_merge": "a merge key, `<<`",
    "plan.yaml_syntax": "no YAML",
    "plan.yaml_tag": "a tag",
}
"""Every code of a plan's problems."""

_SECTIONS = (
    ("Plan", "The plan's keys"),
    ("Defaults", "`defaults`"),
    ("LimitsPatch", "`limits` of attempts"),
    ("CommandAgent", "`agents`: kind `command`"),
    ("PatchAgent", "`agents`: kind `patch`"),
    ("Image", "`image`"),
    ("RunLimits", "`limits` of the run"),
    ("Land", "`land`"),
    ("Permissions", "`permissions`"),
    ("CommitStyle", "`commit`"),
    ("Phase", "`phases`"),
    ("Module", "`modules`"),
    ("PermissionsPatch", "`permissions` of a module"),
    ("Verification", "`verification`"),
    ("ExpectedDeltas", "`expected_deltas`"),
)


def reference(schema: dict[str, Any]) -> str:
    """Return docs/plan.md for the schema of a plan."""
    forms = {**schema["$defs"], "Plan": schema}
    parts = [_INTRO]
    for name, title in _SECTIONS:
        parts.append(
            "\n".join([f"## {title}", "", forms[name].get("description", ""), "", *_table(forms[name], forms), ""])
        )
    codes = [f"| `{code}` | {meaning} |" for code, meaning in sorted(CODES.items())]
    parts += [_RULES, "\n".join(["## Problems", "", "| code | means |", "|---|---|", *codes, ""])]
    return "\n".join(parts)


def _table(form: dict[str, Any], forms: dict[str, Any]) -> Iterator[str]:
    yield "| key | value | |"
    yield "|---|---|---|"
    for key, value in form["properties"].items():
        needed = " **needed**" if key in form.get("required", ()) else ""
        default = value.get("default")
        said = (
            f" Default: `{json.dumps(default)}`."
            if default not in (None, [], False) and "efault" not in _text(value)
            else ""
        )
        example = f" Example: `{json.dumps(value['examples'][0], ensure_ascii=False)}`." if "examples" in value else ""
        text = _text(value) or _text(forms.get(value.get("$ref", "").rpartition("/")[2], {}))
        meaning = (text + said + example).replace("|", "\\|")
        yield f"| `{key}`{needed} | {_kind(value, forms)} | {meaning} |"


def _text(value: dict[str, Any]) -> str:
    return str(value.get("description", ""))


def _kind(value: dict[str, Any], forms: dict[str, Any]) -> str:
    """Name the kind of a value in a few words."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return " \\| ".join(f"`{v}`" for v in forms[name]["enum"]) if "enum" in forms[name] else "keys"
    if "const" in value:
        return f"`{value['const']}`"
    if choices := value.get("anyOf", value.get("oneOf")):
        kinds = [_kind(choice, forms) for choice in choices if choice.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    kind = value.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(value['items'], forms)}"
    named = next(iter(value.get("patternProperties", {}).values()), value.get("additionalProperties"))
    if kind == "object" and isinstance(named, dict):
        return f"names with {_kind(named, forms)}"
    if isinstance(kind, list):
        return _SPOKEN.get(str(value.get("examples", [""])[0]), "text")
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}.get(
        kind, "keys"
    )


_SPOKEN = {"1h": "time: seconds, or 90s, 30m, 1h, 1d", "2g": "size: bytes, or 512m, 2g"}
