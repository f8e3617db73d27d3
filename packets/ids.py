"""Names that become git refs, file names and labels: module ids, run ids."""

import re

MODULE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)*")
RESERVED = frozenset({"integration"})


def module_id_fault(text: str) -> str | None:
    """Say why `text` is no module id, or None."""
    if len(text) > 100:  # noqa: PLR2004 - the limit that design and docs name
        return "longer than 100 characters"
    if not MODULE_ID.fullmatch(text):
        return "use letters, digits, '_', '.', '-' in parts joined by '/', e.g. Pricing/DiscountEngine"
    if "--" in text:
        return "`--` stands for `/` in names of files and sandboxes"
    for part in text.split("/"):
        if part.endswith((".lock", ".")) or ".." in part:
            return f"the part {part!r} cannot become a git branch"
    if text.partition("/")[0] in RESERVED or re.search(r"(^|/)attempt-\d+(/|$)", text):
        return "this name is kept for grace's own branches"
    return None


def slug(module_id: str) -> str:
    """Make an id fit for file and container names, no two alike: `Pricing/Money` -> `Pricing--Money`."""
    return module_id.replace("/", "--")
