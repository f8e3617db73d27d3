"""The worker image: made from this machine, set up with its network, and nothing of that left inside."""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from packets.errors import MachineLacks
from packets.plan import Image
from sandbox import image_list, image_store
from sandbox.choose import choose
from sandbox.docker import DockerSandbox
from sandbox.image import ensure_image, machine_image
from sandbox.protocol import Job, Sandbox


def _silent(_: str) -> None:
    return None


@pytest.fixture
def clean(docker_engine: DockerSandbox) -> Iterator[list[str]]:
    """References of images that a test made in docker; removed at its end."""
    made: list[str] = []
    yield made
    for ref in made:
        docker_engine.client.remove_image(ref, force=True)


@pytest.fixture
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "grace"


def _inside(engine: Sandbox, image: str, script: str, log: Path) -> str:
    job = Job(run_id="image", name=f"image-{uuid4().hex[:8]}", argv=("sh", "-c", script), log=log, cwd="/", image=image)
    engine.start(job)
    ending = engine.wait(job)
    engine.remove(job.name)
    assert ending.exit_code == 0, log.read_text()
    return log.read_text()


def test_it_is_made_once_and_found_again(engine: Sandbox) -> None:
    said: list[str] = []
    first = ensure_image(Image(), engine, Path.cwd(), progress=_silent)
    assert ensure_image(Image(), engine, Path.cwd(), progress=said.append) == first
    assert said == []
    assert len(first.digest) == 64


def test_the_same_files_give_the_same_digest_elsewhere(private_cache: Path) -> None:
    here = machine_image(_silent)
    assert here.root.is_relative_to(private_cache)
    again = image_store.digest_of(here.root, here.env)
    assert again == (here.digest, here.size)
    assert not [path for path in here.root.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o6000]


def test_a_half_made_image_never_shows(private_cache: Path) -> None:
    def dies(root: Path) -> dict[str, str]:
        (root / "half").write_text("x")
        raise MachineLacks("no")

    with pytest.raises(MachineLacks):
        image_store.make("key", "test", dies)
    assert image_store.all_of_them() == ()
    assert list((private_cache / "rootfs").iterdir()) == []
    made = image_store.make("key", "test", lambda root: {"A": str((root / "whole").write_text("y"))})
    assert image_store.find("key") == made
    assert image_store.make("key", "test", dies) == made


def test_two_builders_of_one_key_make_it_once(private_cache: Path) -> None:
    built: list[int] = []

    def fill(root: Path) -> dict[str, str]:
        built.append(1)
        (root / "x").write_text("x")
        return {}

    threads = [threading.Thread(target=image_store.make, args=("k", "t", fill)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of our own in an index folder, and a user's pip configuration that points there with a password."""
    package = f"grace-setup-{uuid4().hex[:8]}"
    folder = tmp_path / "index" / "simple" / package
    folder.mkdir(parents=True)
    wheel = f"{package.replace('-', '_')}-1.0-py3-none-any.whl"
    files = tmp_path / "index" / "files"
    files.mkdir()
    _write_wheel(files / wheel, package)
    (folder / "index.html").write_text(f'<a href="../../files/{wheel}">{wheel}</a>')
    config = tmp_path / "config" / "pip" / "pip.conf"
    config.parent.mkdir(parents=True)
    config.write_text(
        f"[global]\nindex-url = file://{folder.parent}\n"
        f"[install]\nextra-index-url = http://u:pass-{package}@127.0.0.1:9/\n"
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("https_proxy", f"http://u:proxy-{package}@127.0.0.1:9")
    return folder


def _write_wheel(path: Path, package: str) -> None:
    import zipfile

    name = package.replace("-", "_")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", "here = True\n")
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")


def test_setup_uses_this_machines_way_to_packages_and_leaves_none_of_it(
    engine: Sandbox, index: Path, clean: list[str], tmp_path: Path
) -> None:
    package = index.name
    setup = (f"pip install --no-deps {package}", "echo 'it'\"'\"'s set' > /opt/mark")
    made = ensure_image(Image(setup=setup), engine, tmp_path, progress=_silent)
    if engine.name == "docker":
        clean.append(made.ref)
    look = f"python3 -c 'import {package.replace('-', '_')}'; cat /opt/mark; ls -A /grace /opt /root; env; ls -A /etc"
    log = _inside(engine, made.ref, look, tmp_path / "log")
    assert "it's set" in log
    assert "Error" not in log
    secrets = (f"pass-{package}", f"proxy-{package}", str(tmp_path))
    for secret in secrets:
        assert secret not in log
    if engine.name == "docker":
        assert isinstance(engine, DockerSandbox)
        seen = json.dumps([engine.client.inspect_image(made.ref), engine.client.history(made.ref)])
        assert not [secret for secret in secrets if secret in seen]
        assert engine.client.containers(all=True, filters={"label": "grace.image=setup"}) == []
    else:
        found = subprocess.run(
            ["grep", "-rlE", "|".join(secrets[:2]), made.ref], capture_output=True, text=True, check=False
        )
        assert found.stdout == ""
        image_store.forget(made.digest)


def test_setup_sees_the_repository_and_another_manifest_makes_another_image(
    engine: Sandbox, clean: list[str], tmp_path: Path
) -> None:
    def commit(version: str) -> None:
        (tmp_path / "pyproject.toml").write_text(version)
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=u", "-c", "user.email=u@x", "commit", "-qm", "x"],
        ):
            subprocess.run(
                ["git", "-C", str(tmp_path), *words], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
            )

    image = Image(setup=("cp pyproject.toml /opt/seen", "touch /repo/here"))
    commit("one")
    first = ensure_image(image, engine, tmp_path, progress=_silent)
    commit("two")
    second = ensure_image(image, engine, tmp_path, progress=_silent)
    if engine.name == "docker":
        clean += [first.ref, second.ref]
    logs = tmp_path.parent / f"{tmp_path.name}-logs"
    assert _inside(engine, first.ref, "cat /opt/seen; ls /repo", logs / "1") == "one"
    assert _inside(engine, second.ref, "cat /opt/seen", logs / "2") == "two"
    assert not (tmp_path / "here").exists(), "setup sees a throwaway copy"
    if engine.name == "bubblewrap":
        for made in (first, second):
            image_store.forget(made.digest)


def test_a_setup_that_fails_names_the_command_and_keeps_nothing(engine: Sandbox, tmp_path: Path) -> None:
    before = {one.name for one in image_list.listed()}
    image = Image(setup=("true", "echo to no avail; exit 9"))
    with pytest.raises(MachineLacks, match=r"failed with 9 at 'echo to no avail; exit 9': to no avail") as caught:
        ensure_image(image, engine, tmp_path, progress=_silent)
    assert caught.value.exit_code == 3
    assert {one.name for one in image_list.listed()} <= before


def test_f6_an_image_from_a_registry_that_does_not_answer_is_one_line(engine: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(MachineLacks, match="no registry answers") as caught:
        ensure_image(Image.model_validate({"from": "127.0.0.1:9/no/such:1"}), engine, tmp_path, progress=_silent)
    assert "leave `image.from` out" in caught.value.hint
    assert "\n" not in caught.value.message


def test_a_local_image_and_a_dockerfile_work_for_both_engines(
    engine: Sandbox, docker_image: str, clean: list[str], tmp_path: Path
) -> None:
    tag = f"grace-test-{uuid4().hex[:8]}"
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "Dockerfile").write_text(f"FROM {docker_image}\nENV MARK=made\nRUN echo {tag} > /opt/mark\n")
    made = ensure_image(Image(dockerfile="plan/Dockerfile"), engine, tmp_path, progress=_silent)
    docker = choose("docker").sandbox
    assert isinstance(docker, DockerSandbox)
    found = next(one for one in docker.client.images() if any(":file-" in (t or "") for t in one["RepoTags"] or ()))
    docker.client.tag(found["Id"], tag)
    docker.close()
    clean += [*found["RepoTags"], tag]
    named = ensure_image(Image(name=tag), engine, tmp_path, progress=_silent)
    for image in (made, named):
        log = _inside(engine, image.ref, "cat /opt/mark; echo $MARK; python3 -c 'print(6 * 7)'", tmp_path / "log")
        assert log.split() == [tag, "made", "42"]
    if engine.name == "bubblewrap":
        image_store.forget(made.digest)


def test_images_that_are_missing_say_so(engine: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(MachineLacks, match="no image 'grace-none'"):
        ensure_image(Image(name="grace-none"), engine, tmp_path, progress=_silent)
    with pytest.raises(MachineLacks, match="no Dockerfile"):
        ensure_image(Image(dockerfile="none"), engine, tmp_path, progress=_silent)


def test_bubblewrap_without_docker_says_what_needs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRACE_DOCKER_HOST", f"unix://{tmp_path}/none")
    sandbox = choose("bubblewrap").sandbox
    with pytest.raises(MachineLacks, match="needs Docker to fetch it") as caught:
        ensure_image(Image(name="some"), sandbox, tmp_path, progress=_silent)
    assert "this machine's files" in caught.value.hint
    sandbox.close()  # type: ignore[attr-defined]
