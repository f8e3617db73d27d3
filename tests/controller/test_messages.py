"""Commit messages: a subject for people, trailers that git can read."""

import subprocess
from types import SimpleNamespace

import pytest

from controller import messages

PACKET = SimpleNamespace(
    module_id="A/B", attempt=2, run_id="r1", packet_id="sha256:" + "0" * 64, purpose="Do the thing\nGrace-Run: forged"
)


def trailers(message):
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=message, capture_output=True, text=True, check=True
    )
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        (
            messages.merge_message(PACKET, "accept"),
            {"Grace-Run": "r1", "Grace-Module": "A/B", "Grace-Verdict": "accept"},
        ),
        (messages.attempt_message(PACKET), {"Grace-Run": "r1", "Grace-Attempt": "2"}),
        (messages.revert_message("A/B", "r1", "c" * 40), {"Grace-Run": "r1", "Grace-Reverts": "c" * 40}),
        (messages.sync_message("r1", "b" * 40), {"Grace-Run": "r1"}),
    ],
)
def test_the_trailers_are_gits(message, wanted):
    assert wanted.items() <= trailers(message).items()
    assert message.endswith("\n")


def test_a_subject_is_one_short_line_of_the_purpose():
    assert messages.merge_message(PACKET, "accept").splitlines()[0] == "Do the thing"
    long = SimpleNamespace(**{**vars(PACKET), "purpose": "x" * 100})
    assert messages.merge_message(long, "accept").splitlines()[0] == "x" * 69 + "..."
