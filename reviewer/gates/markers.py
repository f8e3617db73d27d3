"""Required markers are written by the product when the checks run, in the plan's order; forbidden ones never."""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error


class MarkersGate:
    """A marker counts when it is in the captured output and source outside the tests can emit it."""

    name = "markers"
    costly = True
    codes: ClassVar[Mapping[str, str]] = {
        "marker.missing": "a required marker is not in the output of the checks",
        "marker.not_in_source": "a required marker is in the output, but no source outside the tests can emit it",
        "marker.order": "the required markers are all there, but not in the plan's order",
        "marker.forbidden": "a forbidden or removed marker is in the output of the checks, or still in the source",
        "marker.not_new": "the plan expects a marker to be added, and the base could emit it already",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give missing markers, then order, then forbidden ones."""
        wanted = case.packet.verification_excerpt
        added = tuple(e.name for e in evidence.expected if e.kind == "marker" and e.verb == "add")
        removed = tuple(e.name for e in evidence.expected if e.kind == "marker" and e.verb == "remove")
        required = tuple(dict.fromkeys((*wanted.required_markers, *added)))
        if not required and not wanted.forbidden_markers and not removed:
            return
        missing = [marker for marker in required if evidence.output.place_of(marker) is None]
        for marker in missing:
            yield error(
                "marker.missing",
                f"{marker} is not in the output of the checks",
                hint="log it at INFO or higher, or print it, on the path that a check runs",
            )
        yield from self._source(required, added, removed, evidence)
        listed = wanted.required_markers
        if not set(listed) & set(missing) and not evidence.output.in_order(listed):
            yield error("marker.order", f"the markers do not come in this order: {', '.join(listed)}")
        for marker in dict.fromkeys((*wanted.forbidden_markers, *removed)):
            if (place := evidence.output.place_of(marker)) is not None:
                yield error("marker.forbidden", f"{marker} is in the output of the checks", evidence=place)

    def _source(
        self, required: tuple[str, ...], added: tuple[str, ...], removed: tuple[str, ...], evidence: Evidence
    ) -> Iterator[Finding]:
        for marker in required:
            if evidence.output.place_of(marker) is not None and evidence.emitted_at(marker) is None:
                yield error(
                    "marker.not_in_source",
                    f"{marker} is in the output, but only tests can have written it",
                    evidence=evidence.output.place_of(marker) or "",
                )
        for marker in added:
            if (place := evidence.emitted_before_at(marker)) is not None:
                yield error("marker.not_new", f"{marker} is expected to be added", path=place[0], line=place[1])
        for marker in removed:
            if (place := evidence.emitted_at(marker)) is not None:
                yield error("marker.forbidden", f"{marker} is still in the source", path=place[0], line=place[1])
