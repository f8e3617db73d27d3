"""The text of a first plan, commented, for the repository it will stand in."""

import json
import re
from collections.abc import Sequence

from controller.plan.communities import Proposal
from controller.plan.proposals import proposed
from controller.plan.survey import Survey
from packets.ids import module_id_fault

_PROPOSED = """\
      # What the code holds together by itself, as modules. Delete those that you change nothing in; one that others
      # depend on may move to `modules_map: {{Name: [its write_scope]}}`.
"""

_TEMPLATE = """\
# yaml-language-server: $schema={schema}
# A plan for grace. Check it with `grace plan check`, see its waves with `grace plan show`, build it with `grace run`.
version: 1
name: {name}
# base: main            # default: the branch that is checked out

defaults:
  profile: balanced     # safe: asks before each merge; balanced: once a wave and at landing; fast: at landing only
  limits: {{deadline: 30m, attempts: 3}}

# Who does the work. A command runs in a sealed container, in a checkout of what is committed; its task is in
# $GRACE_PACKET (YAML) and $GRACE_PACKET_JSON. A patch is a diff: `gold: {{kind: patch, patch: patches/first.diff}}`.
agents:
  worker:
    kind: command
    run: [sh, -c, "echo 'Put the program that edits the code here.' >&2; exit 1"]

sandbox: auto           # docker where an engine answers, else bubblewrap
{image}
phases:
  - id: first
    # Judges everything together, before it lands.
{checks}
    modules:
{modules}"""

_ONE = """\
      - id: {module}
        purpose: Say in a sentence what is to be done here
        # All that this module may write; folders end in /. Two modules that share a path need a `depends_on`.
        write_scope: {scope}
        notes: []       # what the worker must know besides
        verification:
          # Commands that judge this module alone; exit 0 is good.
          module_local_checks: []
        expected_deltas:
          graph: []         # such as "Checkout -> DiscountPolicy": an edge that must come to be
          verification: []  # such as "add scenario seasonal_coupon_plus_loyalty": a test that must come to be

      # A second module would run at the same time, unless it depends on the first:
      # - id: Second
      #   purpose: ...
      #   depends_on: [{module}]
      #   write_scope: [docs/]
"""


def starter(found: Survey, folder: str, schema: str, proposals: Sequence[Proposal] = ()) -> str:
    """Return the plan's text; `folder` is the repository's name, `schema` the way from the plan to its schema.

    Without proposals one module shows how it is done.
    """
    checks = f"    checks: [{_scalar(found.check)}]" if found.check else "    checks: []    # no test command was found"
    image = (
        f"image: {{from: {_scalar(found.image)}}}    # has the tools of {found.language}; `setup: [...]` adds to it\n"
        if found.image
        else '# image: {setup: ["pip install NAME"]}   # what the tests need beside python and pytest\n'
    )
    return _TEMPLATE.format(
        schema=schema,
        name=_name(folder),
        image=image,
        checks=checks,
        modules=_PROPOSED.format() + proposed(proposals, found) if proposals else _one(found),
    )


def _one(found: Survey) -> str:
    scope = f"[{', '.join(map(_scalar, found.scope))}]"
    return _ONE.format(module=_module(found.scope[0]), scope=scope)


def _scalar(text: str) -> str:
    """Write text so that YAML reads it as it is: plain where that is safe."""
    return text if re.fullmatch(r"[A-Za-z][\w./-]*", text) else json.dumps(text, ensure_ascii=False)


def _name(folder: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", folder).strip("-._")[:64]
    return (
        json.dumps(name)
        if re.fullmatch(r"[\d.eE_+-]*|true|false|null", name, re.IGNORECASE) and name
        else name or "plan"
    )


def _module(entry: str) -> str:
    last = entry.rstrip("/").rpartition("/")[2]
    words = re.findall(r"[A-Za-z0-9]+", last.partition(".")[0] or last)
    name = "".join(word[:1].upper() + word[1:] for word in words)[:60]
    return name if name[:1].isalpha() and not module_id_fault(name) else "First"
