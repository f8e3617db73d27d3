"""What a worker sees and what comes back, on real engines."""

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from packets.agent import CommandAgent
from packets.errors import Damaged, GraceError
from packets.outcome import AnomalyKind
from packets.packet import AgentChoice, Base, ExecutionPacket
from sandbox.checkout import MTIME, _remove_stubborn, appearing, prune_cache
from sandbox.git import Entry
from sandbox.protocol import Job
from sandbox.workspace import base_checkout, candidate, discard, harvest, opened, prepare

BASE = {
    "README.md": b"read me\n",
    "app/a.py": b"a = 1\n",
    "app/deep/b.py": b"b = 1\n",
    "app/deep/c.py": b"c = 1\n",
    "tests/t.py": b"t = 1\n",
    "lib/x/y/z.py": b"z\n",
}


class Mounting:
    """Stands for an engine with mounts: only what `prepare` asks of one."""

    name = "docker"
    owner = None
    gaps = ()


class FullCopy:
    """Stands for an engine without mounts: only what `prepare` asks of one."""

    name = "host"
    owner = None
    gaps = ()


def packet_for(git, scope, commit="HEAD", attempt=1, **limits):
    sha = git.resolve(commit)
    spec = CommandAgent(kind="command", run=("true",))
    made = ExecutionPacket(
        run_id="r1", phase="p", wave=1, attempt=attempt, base=Base(commit=sha, tree=git.tree(sha)),
        plan_digest="sha256:0", module_id="M/One", purpose="p", write_scope=tuple(scope),
        agent=AgentChoice(name="s", spec=spec),
    )  # fmt: skip
    return made.model_copy(update={"limits": made.limits.model_copy(update=limits)}).stamped()


@pytest.fixture
def git(repo, opened):
    repo.commit(BASE)
    return opened(repo)


@pytest.fixture
def inside(git, engine, engine_image, tmp_path):
    """Run a shell script in the workspace of a scope; returns (output, changes by path, anomalies)."""
    counter = iter(range(100))

    def run(script, scope, **limits):
        packet = packet_for(git, scope, **limits)
        folder = tmp_path / f"w{next(counter)}"
        workspace = prepare(git, packet, engine, folder)
        job = Job(
            run_id="t-ws", name=f"t-ws-{os.getpid()}-{folder.name}-{tmp_path.name}", argv=("sh", "-c", script),
            log=tmp_path / f"{folder.name}.log", mounts=workspace.mounts, image=engine_image, limits=packet.limits,
        )  # fmt: skip
        try:
            engine.start(job)
            engine.wait(job)
        finally:
            engine.remove(job.name)
        tree, anomalies = harvest(git, workspace)
        discard(folder)
        changes = {c.path: (c.status, c.new_mode) for c in git.changes(packet.base.tree, tree)}
        return job.log.read_text(errors="replace"), changes, anomalies

    return run


# --- the write scope, at the mount


def test_only_the_scopes_folder_can_be_written(inside):
    script = (
        "for f in README.md app/a.py app/new.py app/deep/b.py app/deep/new.py tests/t.py lib/x/y/z.py top;"
        " do (echo x > $f) 2>/dev/null && echo wrote $f; done; rm -rf tests lib 2>/dev/null; ls tests lib"
    )
    said, changes, anomalies = inside(script, ["app/deep/b.py"])
    assert [line for line in said.splitlines() if line.startswith("wrote")] == [
        "wrote app/deep/b.py",
        "wrote app/deep/new.py",
    ]
    assert changes == {"app/deep/b.py": ("M", "100644"), "app/deep/new.py": ("A", "100644")}
    assert anomalies == ()


def test_a_root_scope_leaves_the_folders_shut(inside):
    said, changes, _ = inside(
        "echo x > README.md; echo n > NEW; (echo y > app/a.py) || echo shut; ls -a", ["README.md"]
    )
    assert "shut" in said
    assert changes == {"README.md": ("M", "100644"), "NEW": ("A", "100644")}


def test_new_folders_can_be_written_and_their_parents_not(inside):
    script = (
        "echo n > lib/new/pkg/m.py; mkdir lib/new/pkg/sub; echo s > lib/new/pkg/sub/s;"
        " touch lib/new/no lib/no; ls lib/x/y"
    )
    said, changes, _ = inside(script, ["lib/new/pkg/"])
    assert "z.py" in said
    assert changes == {"lib/new/pkg/m.py": ("A", "100644"), "lib/new/pkg/sub/s": ("A", "100644")}


def test_nested_scopes(inside):
    script = (
        "echo 1 > app/a.py; (echo 1 > app/deep/b.py); mkdir -p app/deep/fresh; echo 1 > app/deep/fresh/f;"
        " rm lib/x/y/z.py"
    )
    _, changes, _ = inside(script, ["app/a.py", "app/deep/fresh/", "lib/x/**"])
    assert changes == {
        "app/a.py": ("M", "100644"),
        "app/deep/fresh/f": ("A", "100644"),
        "lib/x/y/z.py": ("D", "000000"),
    }


def test_c8_everything_a_tree_can_hold_comes_back_mode_exact(inside):
    script = (
        "cd app && chmod +x a.py && rm -r deep && ln -s ../README.md link && : > empty && printf '\\000\\377' > bin"
        " && printf 'a\\r\\nb' > crlf && mkdir -p n/o && mv link n/o/moved && git mv -f a.py a2.py;"
        " echo '*' > .gitignore"
    )
    _, changes, anomalies = inside(script, ["app/"])
    assert changes == {
        "app/a.py": ("D", "000000"),
        "app/a2.py": ("A", "100755"),
        "app/deep/b.py": ("D", "000000"),
        "app/deep/c.py": ("D", "000000"),
        "app/empty": ("A", "100644"),
        "app/bin": ("A", "100644"),
        "app/crlf": ("A", "100644"),
        "app/n/o/moved": ("A", "120000"),
        "app/.gitignore": ("A", "100644"),
    }
    assert anomalies == ()


# --- the private repository


def test_a6_a7_r1_the_tree_counts_whatever_the_workers_git_says(inside):
    script = (
        "git status --porcelain; git log --oneline | wc -l; git checkout -q --detach; echo 2 > app/a.py;"
        " git commit -qam sneak; echo 3 > app/new; git status --porcelain"
    )
    said, changes, _ = inside(script, ["app/"])
    assert said.split("\n") == ["1", "?? app/new", ""]
    assert changes == {"app/a.py": ("M", "100644"), "app/new": ("A", "100644")}


def test_r7_f5_the_workers_repository_is_its_own(inside, repo, tmp_path):
    before = (repo.git("for-each-ref"), (repo.path / ".git/config").read_text())
    script = (
        f"git remote; cat .git/objects/info/alternates; printf '#!/bin/sh\\ntouch {tmp_path}/ran' > .git/hooks-x;"
        f" mkdir -p .git/hooks; cp .git/hooks-x .git/hooks/post-index-change; chmod +x .git/hooks/*;"
        f" git config core.fsmonitor 'touch {tmp_path}/ran'; git config filter.x.clean 'touch {tmp_path}/ran';"
        " echo '* filter=x' > app/.gitattributes; git update-ref refs/heads/main HEAD; git push origin main;"
        " git config user.name evil; echo done"
    )
    said, changes, _ = inside(script, ["app/"])
    assert said.strip().endswith("done")
    assert changes == {"app/.gitattributes": ("A", "100644")}
    assert not (tmp_path / "ran").exists()
    assert (repo.git("for-each-ref"), (repo.path / ".git/config").read_text()) == before
    assert repo.git("status", "--porcelain") == ""


def test_the_private_repository_holds_one_commit_and_nothing_shared(repo, opened, tmp_path):
    repo.commit({"secret": b"old content that is gone\n"})
    (repo.path / "secret").unlink()
    repo.commit({".gitattributes": b"*.txt text eol=crlf\n", "a.txt": b"a\n", "b.txt": b"b\r\n"})
    git = opened(repo)
    workspace = prepare(git, packet_for(git, ["**"]), FullCopy(), tmp_path / "w")
    inner = workspace.repo

    def ask(*args):
        return subprocess.run(["git", *args], cwd=inner, capture_output=True, text=True, check=True).stdout

    assert ask("log", "--format=%H").split() == [git.resolve("HEAD")]
    assert ask("status", "--porcelain") == ""
    assert ask("rev-parse", "HEAD^{tree}").strip() == git.tree("HEAD")
    assert ask("remote") == ""
    assert ask("config", "user.name") == "worker\n"
    assert "missing" in subprocess.run(
        ["git", "cat-file", "--batch-check"], cwd=inner, input=repo.git("rev-parse", "HEAD~1:secret"),
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert ask("fsck", "--no-dangling") == ""
    linked = [p for p in (inner / ".git").rglob("*") if p.is_file() and p.stat().st_nlink > 1]
    assert linked == []
    (inner / "a.txt").write_bytes(b"a\r\n")
    ask("commit", "-qam", "x")
    blob = subprocess.run(["git", "cat-file", "-p", "HEAD:a.txt"], cwd=inner, capture_output=True, check=True).stdout
    assert blob == b"a\r\n"


# --- what a tree cannot hold


def test_f3_links_out_of_the_repository_are_taken_as_links(inside, tmp_path, git):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"host")
    script = f"rm -r app/deep; ln -s {outside} app/deep; echo x > app/deep/f; rm app/a.py; ln -s /etc/passwd app/a.py"
    _, changes, _ = inside(script, ["app/"])
    assert changes["app/deep"] == ("A", "120000")
    assert changes["app/a.py"] == ("T", "120000")
    assert (outside / "f").read_bytes() == b"host"


def test_what_a_tree_cannot_hold_is_left_out_and_named(inside):
    script = (
        "cd app; mkfifo pipe; git init -q nested; echo f > nested/f; mkdir .GIT; echo x > .GIT/config;"
        " ln -s /x .gitmodules; mkdir shut; echo s > shut/s; chmod 000 shut/s shut; umask 077; echo u > u"
    )
    _, changes, anomalies = inside(script, ["app/"])
    assert changes == {
        "app/nested/f": ("A", "100644"),
        "app/shut/s": ("A", "100644"),
        "app/u": ("A", "100644"),
    }
    assert {(a.kind, a.path) for a in anomalies} >= {
        (AnomalyKind.SPECIAL, "app/pipe"),
        (AnomalyKind.NESTED_REPO, "app/nested/.git"),
        (AnomalyKind.NAME, "app/.GIT"),
        (AnomalyKind.NAME, "app/.gitmodules"),
        (AnomalyKind.UNREADABLE, "app/shut"),
        (AnomalyKind.UNREADABLE, "app/shut/s"),
    }


def test_a_file_over_the_limit_is_left_out(git, tmp_path):
    workspace = prepare(git, packet_for(git, ["**"], disk=100), FullCopy(), tmp_path / "w")
    (workspace.repo / "huge").write_bytes(b"x" * 101)
    (workspace.repo / "app/a.py").write_bytes(b"x" * 101)
    tree, anomalies = harvest(git, workspace)
    assert tree == workspace.base_tree
    assert {(a.kind, a.path) for a in anomalies} == {
        (AnomalyKind.TOO_BIG, "huge"),
        (AnomalyKind.TOO_BIG, "app/a.py"),
    }


def test_a_bottomless_folder_is_bounded_and_can_be_removed(git, tmp_path):
    workspace = prepare(git, packet_for(git, ["**"]), FullCopy(), tmp_path / "w")
    script = (
        "import os\nfor i in range(600):\n os.mkdir('d'*20); os.chdir('d'*20)\nopen('f','w').close()\nos.chmod('.', 0)"
    )
    subprocess.run(["python3", "-c", script], cwd=workspace.repo, check=True)
    tree, anomalies = harvest(git, workspace)
    assert tree == workspace.base_tree
    assert [a.kind for a in anomalies] == [AnomalyKind.NAME]
    discard(workspace.folder)
    assert not workspace.folder.exists()


# --- submodules


@pytest.fixture
def with_submodule(repo, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    repo.git("init", "-q", cwd=inner)
    (inner / "f").write_text("f")
    repo.git("add", "-A", cwd=inner)
    repo.git("commit", "-qm", "inner", cwd=inner)
    repo.commit({"a": b"a"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "vendor/mod")
    repo.git("commit", "-qm", "with submodule")
    return repo


def test_c1_a_submodule_shows_as_an_empty_folder_and_survives(with_submodule, opened, tmp_path):
    git = opened(with_submodule)
    for number, scope in enumerate((["vendor/"], ["vendor/x"], ["a"], ["**"])):
        workspace = prepare(git, packet_for(git, scope), FullCopy(), tmp_path / f"w{number}")
        assert list((workspace.repo / "vendor/mod").iterdir()) == []
        assert harvest(git, workspace).tree == workspace.base_tree


def test_c1_what_happens_to_a_submodules_folder_is_a_change(with_submodule, opened, tmp_path):
    git = opened(with_submodule)
    workspace = prepare(git, packet_for(git, ["**"]), FullCopy(), tmp_path / "w")
    spot = workspace.repo / "vendor/mod"
    spot.rmdir()
    assert [(c.status, c.path) for c in git.changes(workspace.base_tree, harvest(git, workspace).tree)] == [
        ("D", "vendor/mod")
    ]
    spot.write_bytes(b"x")
    assert [(c.status, c.path) for c in git.changes(workspace.base_tree, harvest(git, workspace).tree)] == [
        ("T", "vendor/mod")
    ]
    spot.unlink()
    subprocess.run(["git", "init", "-q", str(spot)], check=True)
    tree, anomalies = harvest(git, workspace)
    assert tree == workspace.base_tree
    assert [a.kind for a in anomalies] == [AnomalyKind.NESTED_REPO]


# --- checkouts


def test_the_base_is_made_once_by_many_at_once(git, tmp_path):
    tree = git.tree("HEAD")
    gate = threading.Barrier(6)

    def make(_):
        gate.wait()
        return base_checkout(git, git.roots, tree)

    with ThreadPoolExecutor(6) as pool:
        folders = set(pool.map(make, range(6)))
    assert folders == {git.roots.trees / tree}
    assert [p.name for p in git.roots.trees.iterdir()] == [tree]
    found = {str(p.relative_to(*folders)): p.read_bytes() for p in next(iter(folders)).rglob("*") if p.is_file()}
    assert found == BASE


def test_a_candidate_is_complete_writable_and_replaces_what_is_there(git, tmp_path):
    spot = tmp_path / "c"
    for _ in range(2):
        assert candidate(git, git.tree("HEAD"), spot, None) == spot
        assert {str(p.relative_to(spot)): p.read_bytes() for p in spot.rglob("*") if p.is_file()} == BASE
        (spot / "extra").write_text("x")
    assert (spot / "app/a.py").stat().st_mtime == MTIME
    discard(spot)
    discard(spot)
    assert [p.name for p in tmp_path.iterdir() if p.name == "c" or "aside" in p.name] == []


def test_a_discard_that_was_cut_off_leaves_no_workspace(git, tmp_path, monkeypatch):
    folder = tmp_path / "w"
    prepare(git, packet_for(git, ["app/"]), FullCopy(), folder)

    def die(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sandbox.checkout._remove", die)
        with pytest.raises(KeyboardInterrupt):
            discard(folder)
    assert opened(folder) is None
    discard(folder)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith((".w", "w"))] == []


def test_the_cache_is_pruned_by_use(git, tmp_path):
    prepare(git, packet_for(git, ["app/"]), FullCopy(), tmp_path / "w")
    assert prune_cache(git.roots, 3600) == ()
    gone = prune_cache(git.roots, -1)
    assert {p.name for p in gone} == {git.tree("HEAD"), git.resolve("HEAD")}
    assert list(git.roots.trees.iterdir()) == list(git.roots.templates.iterdir()) == []
    prepare(git, packet_for(git, ["app/"]), FullCopy(), tmp_path / "w2")


def test_what_a_killed_maker_left_in_the_cache_goes_and_what_a_live_one_makes_stays(git):
    trees = git.roots.trees
    code = "from sandbox.checkout import appearing; from pathlib import Path; import os, signal, sys"
    code += "; made = appearing(Path(sys.argv[1])); made.__enter__(); os.kill(os.getpid(), signal.SIGKILL)"
    killed = subprocess.run([sys.executable, "-P", "-c", code, trees / "killed"], check=False)
    assert (killed.returncode, len(list(trees.iterdir()))) == (-signal.SIGKILL, 1)
    with appearing(trees / "live") as fresh:
        (gone,) = prune_cache(git.roots, 3600)
        assert (gone.name.startswith(".killed."), fresh.is_dir()) == (True, True)
    assert [spot.name for spot in trees.iterdir()] == ["live"]


@pytest.mark.skipif(os.geteuid() != 0, reason="as root this needs another user; as a user it is covered by itself")
def test_g1_a_worker_that_shuts_all_its_folders_is_harvested_by_an_ordinary_user(git, tmp_path):
    workspace = prepare(git, packet_for(git, ["**"]), FullCopy(), tmp_path / "w")
    (workspace.repo / "app/a.py").write_bytes(b"2")
    for spot in ("app/deep/b.py", "app/deep", "app", "."):
        (workspace.repo / spot).chmod(0)
    for spot in (tmp_path, *tmp_path.rglob("*")):
        os.lchown(spot, 4321, 4321)
    for spot in tmp_path.parents:  # pytest's own folders are its user's; how many there are depends on xdist
        if "pytest-" in str(spot):
            spot.chmod(0o755)
    os.setegid(4321)
    os.seteuid(4321)
    try:
        tree, anomalies = harvest(git, opened(workspace.folder))
        discard(workspace.folder)
    finally:
        os.seteuid(0)
        os.setegid(0)
    assert [(c.status, c.path) for c in git.changes(workspace.base_tree, tree)] == [("M", "app/a.py")]
    assert [a.path for a in anomalies] == [".", "app", "app/deep", "app/deep/b.py"]
    assert not workspace.folder.exists()


def test_what_no_ordinary_removal_can_remove_is_removed(tmp_path):
    deep = tmp_path / "w"
    for level in range(40):
        deep = deep / f"{'d' * 120}{level}"
        deep.mkdir(parents=level == 0)
        (deep / "f").write_text("x")
        if len(str(deep)) > 3500:
            break
    for folder in (deep, deep.parent):
        folder.chmod(0)
    _remove_stubborn(tmp_path / "w")
    assert list(tmp_path.iterdir()) == []


def test_modes_do_not_depend_on_our_umask(repo, opened, tmp_path):
    repo.commit({"x": b"x"})
    git = opened(repo)
    tree = git.write_tree(git.tree("HEAD"), {"d/run": Entry("100755", git.write_blob(b"#!"))})
    old = os.umask(0o077)
    try:
        spot = candidate(git, tree, tmp_path / "c", None)
    finally:
        os.umask(old)
    assert [oct((spot / p).stat().st_mode & 0o777) for p in (".", "x", "d", "d/run")] == [
        "0o755",
        "0o644",
        "0o755",
        "0o755",
    ]


def test_a_tree_made_to_write_through_a_link_is_refused(repo, opened, tmp_path):
    """`mktree` takes what no index would: a link and a folder of one name."""
    repo.commit({"x": b"x"})
    git = opened(repo)
    outside = tmp_path / "outside"
    outside.mkdir()
    link, file = git.write_blob(str(outside).encode()), git.write_blob(b"evil")
    folder = git.write_tree(git.empty_tree(), {"f": Entry("100644", file)})
    listing = f"120000 blob {link}\ta\n040000 tree {folder}\ta\n".encode()
    tree = repo.git("mktree", stdin=listing)
    with pytest.raises(GraceError):
        candidate(git, tree, tmp_path / "c", None)
    assert list(outside.iterdir()) == []


# --- the folder on our side


def test_prepare_again_gives_the_same_workspace_and_no_others(git, tmp_path):
    packet = packet_for(git, ["app/"])
    folder = tmp_path / "w"
    first = prepare(git, packet, FullCopy(), folder)
    (first.repo / "app/a.py").write_bytes(b"work")
    again = prepare(git, packet, FullCopy(), folder)
    assert again == first == opened(folder)
    assert (again.repo / "app/a.py").read_bytes() == b"work"
    with pytest.raises(GraceError, match="another packet"):
        prepare(git, packet_for(git, ["lib/"]), FullCopy(), folder)


def test_a_workspace_whose_record_is_damaged_is_said_and_not_thrown_away(git, tmp_path):
    packet = packet_for(git, ["app/"])
    folder = tmp_path / "w"
    made = prepare(git, packet, FullCopy(), folder)
    (made.repo / "app/a.py").write_bytes(b"work")
    (folder / "workspace.json").write_bytes(b"")
    for look in (lambda: opened(folder), lambda: prepare(git, packet, FullCopy(), folder)):
        with pytest.raises(Damaged, match=r"workspace\.json is damaged") as caught:
            look()
        assert f"rm -r {folder}" in caught.value.hint
    assert (made.repo / "app/a.py").read_bytes() == b"work"


def test_the_packet_lies_at_grace_as_json_and_yaml(git, tmp_path):
    packet = packet_for(git, ["app/"])
    workspace = prepare(git, packet, FullCopy(), tmp_path / "w", yaml="execution_packet: {}\n", files={"x": b"y"})
    grace = tmp_path / "w" / "grace"
    assert (
        ExecutionPacket.model_validate_json(
            json.dumps(json.loads((grace / "packet.json").read_text())["execution_packet"])
        )
        == packet
    )
    assert yaml.safe_load((grace / "packet.yaml").read_text()) == {"execution_packet": {}}
    assert (grace / "in" / "x").read_bytes() == b"y"
    assert workspace.out == grace / "out"


def test_a_repository_that_was_moved_takes_its_workspaces_along(git, repo, opened):
    from sandbox.workspace import opened as workspace_at

    packet = packet_for(git, ["app/a.py"])
    folder = git.roots.work("r1", "M/One", 1)
    prepare(git, packet, Mounting(), folder)
    (folder / "layers/0/a.py").write_text("mine\n")
    moved = repo.path.with_name("moved")
    repo.path.rename(moved)
    found = workspace_at(moved / folder.relative_to(git.main))
    assert found is not None
    assert [mount.source for mount in found.mounts if not mount.source.exists()] == []
    assert all(mount.source.is_relative_to(moved) for mount in found.mounts)


def test_a_shared_checkout_that_is_gone_is_made_again_below_what_a_worker_wrote(git):
    packet = packet_for(git, ["app/a.py"])
    folder = git.roots.work("r1", "M/One", 1)
    first = prepare(git, packet, Mounting(), folder)
    written = next(mount.source for mount in first.mounts if mount.target.endswith("/app"))
    (written / "a.py").write_text("mine\n")
    discard(git.roots.trees)
    assert not all(mount.source.exists() for mount in first.mounts)
    again = prepare(git, packet, Mounting(), folder)
    assert again.mounts == first.mounts
    assert all(mount.source.exists() for mount in again.mounts)
    assert (written / "a.py").read_text() == "mine\n"
