"""pytest plugin: has JUnit written where grace reads it, and signs that the session came to its end.

Loaded by `PYTEST_ADDOPTS=-p grace_witness` inside the sandbox, with the image's own Python: standard library and
pytest only, no syntax newer than Python 3.7. It changes no outcome.
"""

import hashlib
import hmac
import json
import os
import shutil
from typing import Any

import grace_proof  # type: ignore[import-not-found]  # it lies beside this file in the sandbox
import pytest


class _Witness:
    def __init__(self) -> None:
        out, number = os.environ["GRACE_OUT"], os.environ["GRACE_NUMBER"]
        with open(os.path.join(os.environ["GRACE_CHECK"], "word"), "rb") as file:  # noqa: PTH118, PTH123
            self._key = file.read().strip()
        self._pid = os.getpid()
        self._stem = os.path.join(out, "%s.%d" % (number, self._pid))  # noqa: PTH118, UP031
        self._theirs = None
        self._status = -1  # no session: `--help` and its like
        self.proof: Any = None
        self._sign("start", {})

    def _sign(self, kind: str, facts: dict) -> None:  # type: ignore[type-arg]
        body = json.dumps(dict(facts, kind=kind, pid=self._pid), sort_keys=True)
        mark = hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()
        with open("%s.%s" % (self._stem, kind), "w") as file:  # noqa: PTH123, UP031
            file.write(mark + "\n" + body)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        self._theirs = getattr(config.option, "xmlpath", None)
        config.option.xmlpath = self._stem + ".xml"
        if not config.getini("log_level") and not getattr(config.option, "log_level", None):
            config.option.log_level = "INFO"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, exitstatus) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        self._status = int(exitstatus)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        if os.getpid() != self._pid:
            return
        digest = ""
        if os.path.exists(self._stem + ".xml"):  # noqa: PTH110
            with open(self._stem + ".xml", "rb") as file:  # noqa: PTH123
                digest = hashlib.sha256(file.read()).hexdigest()
            if self._theirs:
                os.makedirs(os.path.dirname(os.path.abspath(self._theirs)), exist_ok=True)  # noqa: PTH100, PTH103, PTH120
                shutil.copyfile(self._stem + ".xml", self._theirs)
        self._sign("end", {"status": self._status, "report": digest, "told": self._told()})

    def _told(self) -> str:
        if self.proof is None:
            return ""
        body = json.dumps(self.proof.told).encode()
        with open(self._stem + ".told", "wb") as file:  # noqa: PTH123
            file.write(body)
        return hashlib.sha256(body).hexdigest()


def pytest_addoption(parser, pluginmanager) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Take part from the very beginning, but not in sessions that a test starts within a session."""
    del parser
    if "GRACE_WITNESS" not in os.environ and "GRACE_NUMBER" in os.environ:
        os.environ["GRACE_WITNESS"] = "taken"
        witness = _Witness()
        pluginmanager.register(witness, "grace_witness_session")
        given = grace_proof.settings()
        if given is not None:
            witness.proof = grace_proof.Proof(given)
            pluginmanager.register(witness.proof, "grace_proof_session")
