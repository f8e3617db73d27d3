"""`grace gates`."""

import json
import sys

from reviewer.listing import as_object, as_text


def gates(as_json: bool) -> None:
    """Print the reviewer's gates and codes."""
    sys.stdout.write(json.dumps(as_object()) + "\n" if as_json else as_text())
