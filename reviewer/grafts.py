"""A file that holds sources and tests at once: the sources of the base with the tests of the result."""


def graft(base: bytes, head: bytes) -> bytes:
    """Return the sources of `base` with the tests of `head`."""
    del base
    return head
