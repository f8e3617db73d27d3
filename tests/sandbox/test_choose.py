"""Which engine a run gets, and that nothing is taken silently."""

from pathlib import Path

import pytest

from packets.errors import MachineLacks
from packets.plan import Engine
from sandbox import bubblewrap_probe
from sandbox.choose import choose, close
from sandbox.docker import DockerSandbox


@pytest.fixture
def no_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRACE_DOCKER_HOST", f"unix://{tmp_path}/none.sock")


def test_auto_takes_docker_where_it_answers(docker_engine: DockerSandbox) -> None:
    choice = choose(Engine.AUTO)
    close(choice.sandbox)
    assert choice.sandbox.name == "docker"
    assert docker_engine.version in choice.why


def test_auto_takes_bubblewrap_else_and_says_why(no_docker: None) -> None:
    choice = choose("auto")
    close(choice.sandbox)
    assert choice.sandbox.name == "bubblewrap"
    assert "no Docker engine answers" in choice.why


def test_f6_docker_that_was_asked_for_is_never_replaced(no_docker: None) -> None:
    with pytest.raises(MachineLacks) as caught:
        choose("docker")
    assert caught.value.exit_code == 3
    assert caught.value.hint


def test_with_no_engine_at_all_both_reasons_are_given(no_docker: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap_probe, "_binaries", lambda: iter([Path("/bin/false")]))
    with pytest.raises(MachineLacks, match=r"no Docker engine answers.*bubblewrap does not work") as caught:
        choose("auto")
    assert "grace doctor" in caught.value.hint


def test_strict_names_what_cannot_be_enforced() -> None:
    with pytest.raises(MachineLacks, match=r"bubblewrap cannot enforce here: .*disk"):
        choose("bubblewrap", strict=True)
    memory = choose("memory", strict=True)
    assert memory.sandbox.gaps == ()


def test_host_says_that_it_isolates_nothing() -> None:
    choice = choose("host")
    close(choice.sandbox)
    assert "no isolation" in choice.why
