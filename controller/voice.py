"""Saying things to whoever listens: a reader that went away, or a terminal that was closed, stops nothing."""

import os
import sys
from contextlib import suppress
from typing import TextIO


def say(text: str, *, error: bool = False) -> None:
    """Write to stdout or stderr at once; from the moment on that nobody reads it, silently."""
    stream = sys.stderr if error else sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        _hush(stream)
    except ValueError:  # it was closed
        return


def _hush(stream: TextIO) -> None:
    """Send to nowhere what is said from now on, also what the interpreter flushes at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


class Tolerant:
    """A stream for those who want one to write to; as `say`."""

    encoding = "utf-8"

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        """Write, or do not."""
        try:
            return self._stream.write(text)
        except OSError:
            _hush(self._stream)
        except ValueError:
            pass
        return len(text)

    def flush(self) -> None:
        """Flush, or do not."""
        try:
            self._stream.flush()
        except OSError:
            _hush(self._stream)
        except ValueError:
            pass

    def isatty(self) -> bool:
        """Say whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Give its descriptor."""
        return self._stream.fileno()
