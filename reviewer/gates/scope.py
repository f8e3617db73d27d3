"""Every path that differs between base tree and result tree lies in the module's write scope."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from packets.protected import is_protected
from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error

_DONE = {"A": "added", "M": "changed", "D": "deleted", "T": "turned into something else"}


class ScopeGate:
    """Trees are compared, never a status: what the worker committed itself counts as well."""

    name = "scope"
    costly = False
    codes: ClassVar[Mapping[str, str]] = {
        "scope.outside": "a path outside the module's write scope was changed",
        "scope.protected": "a file that judges the work was changed, and the plan does not name that very file",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give one finding a path."""
        for change in evidence.changes:
            if evidence.scope.names(change.path):
                continue
            reason = case.protected(change.path) or is_protected(change.path, evidence.commands)
            if reason:
                yield error(
                    "scope.protected",
                    f"{_DONE[change.status]}, but it is protected: {reason}",
                    path=change.path,
                    hint=f"if the module is meant to change it, write_scope must name the file {change.path} itself",
                )
            elif not evidence.scope.matches(change.path):
                yield error(
                    "scope.outside",
                    f"{_DONE[change.status]} outside the write scope ({', '.join(case.packet.write_scope)})",
                    path=change.path,
                )
