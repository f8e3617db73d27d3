"""Rows F: security. One run of villains on each engine that isolates; each test looks at what one of them reached."""

import http.server
import json
import subprocess
import threading
from pathlib import Path

import pytest

CANARY = "canary-c0ffee-5ec2e7"
ATTACKS = {
    # F1: everything that can be reached from inside, upwards and from the root
    "Wipes": "rm -rf --no-preserve-root / ../.. /repo/../../* 2>/dev/null; rm -rf .git;"
    " mkdir -p src; echo x > src/wipes.txt",
    # F3: a file in scope becomes a link out of the repository, and is written through
    "Links": "rm -f lnk/old.txt; ln -s {outside}/victim.txt lnk/old.txt; echo evil > lnk/old.txt;"
    " ln -s {repo}/README.md lnk/up; echo evil > lnk/up; ln -s ../../../../../../..{outside} lnk/folder;"
    " echo evil > lnk/folder/victim.txt; true",
    # F4: out of scope by a script of its own
    "Scripts": "printf '#!/bin/sh\\necho evil > other/theirs.txt\\necho evil > README.md\\necho evil > new.txt\\n'"
    " > scr/run.sh; sh scr/run.sh; chmod -R 777 . ; mount -o remount,rw /repo; sh scr/run.sh; true",
    # F5: hooks, fsmonitor, filters, attributes, textconv, aliases: in its own repository and in the tree
    "Plants": "for hook in pre-commit post-commit post-checkout post-merge reference-transaction post-index-change;"
    " do printf '#!/bin/sh\\ntouch {outside}/ran\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done 2>/dev/null;"
    " mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch {outside}/ran\\n' > .git/hooks/post-checkout;"
    " for key in core.fsmonitor core.sshCommand core.editor diff.external filter.evil.clean filter.evil.smudge"
    " diff.evil.textconv diff.evil.command merge.evil.driver core.pager gpg.program;"
    " do git config $key 'touch {outside}/ran'; done; git config core.hooksPath .git/hooks;"
    " printf '* filter=evil diff=evil merge=evil\\n' | tee plt/.gitattributes > .git/info/attributes;"
    " printf '[core]\\n\\tfsmonitor = touch {outside}/ran\\n' > plt/.gitconfig; echo x > plt/x.txt",
    # F7: whatever might answer
    "Calls": "python3 -c '\n"
    "import socket, sys\n"
    "reached = []\n"
    'for kind, where in [(socket.AF_INET, ("169.254.169.254", 80)), (socket.AF_INET, ("127.0.0.1", {port})),\n'
    '                    (socket.AF_INET, ("172.17.0.1", {port})), (socket.AF_INET, ("1.1.1.1", 53)),\n'
    '                    (socket.AF_INET6, ("::1", {port})), (socket.AF_UNIX, "/var/run/docker.sock"),\n'
    '                    (socket.AF_UNIX, "/run/docker.sock"), (socket.AF_UNIX, "\\0grace-cases-{port}")]:\n'
    "    try:\n"
    "        with socket.socket(kind) as s:\n"
    "            s.settimeout(1); s.connect(where); reached.append(where)\n"
    "    except OSError: pass\n"
    'try: reached.append(socket.getaddrinfo("example.com", 80))\n'
    "except OSError: pass\n"
    'open("src/calls.txt", "w").write(repr(reached))\'',
    # F8: the environment, every process, every file it may read
    "Spies": "(env; cat /proc/*/environ /proc/*/cmdline; grep -rsl c0ffe[e]-5ec2 /etc /home /tmp /grace /var)"
    " | tr '\\0' '\\n' > src/spies.txt 2>/dev/null; cat src/spies.txt",
}
SCOPES = {
    "Wipes": ["src/wipes.txt"], "Links": ["lnk/"], "Scripts": ["scr/"], "Plants": ["plt/"],
    "Calls": ["src/calls.txt"], "Spies": ["src/spies.txt"],
}  # fmt: skip


class Seen:
    """What the run left, and what it could have hurt."""

    def __init__(self, repo, run, outside, before):
        self.repo, self.run, self.outside, self.before = repo, run, outside, before
        self.status = repo.status()

    def module(self, name):
        return next(m for m in self.status["modules"] if m["id"] == name)

    def head(self, name):
        """The tree that a module's attempt left, accepted or not."""
        refs = [r for r in self.repo.refs() if r.endswith(f"/{name}/attempt-1")]
        return refs[0]

    def codes(self, name):
        return {f["code"] for f in self.module(name)["findings"] if f["severity"] == "error"}


@pytest.fixture(scope="module", params=["docker", "bubblewrap"])
def villains(request, tmp_path_factory, verbs):
    """Run every villain at once, with a secret in the host's environment."""
    request.getfixturevalue("docker_engine") if request.param == "docker" else None
    top = tmp_path_factory.mktemp("villains")
    repo, outside = verbs.Repo(top / "repo"), top / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    (outside / "victim.txt").write_text("precious\n")
    (outside / "victim.txt").chmod(0o666)
    repo.path.mkdir()
    repo.git("init", "-q", "-b", "main")
    repo.commit("the first", {"README.md": "a repository\n", "lnk/old.txt": "old\n", "other/theirs.txt": "theirs\n"})
    with http.server.HTTPServer(("0.0.0.0", 0), http.server.SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        words = {"outside": outside, "repo": repo.path, "port": server.server_port}
        shells = dict(ATTACKS)
        for key, value in words.items():
            shells = {name: shell.replace("{" + key + "}", str(value)) for name, shell in shells.items()}
        repo.plan(
            {n: {"shell": s, "write_scope": SCOPES[n], "optional": True} for n, s in shells.items()},
            sandbox=request.param,
            checks=["env; cat README.md"],
            defaults={"limits": {"attempts": 1}},
        )
        before = (repo.refs(), (repo.path / ".git" / "config").read_bytes(), repo.head)
        secrets = {"OPENAI_API_KEY": CANARY, "ANTHROPIC_API_KEY": CANARY, "SECRET": CANARY, "GRACE_TOKEN": CANARY}
        result = repo.grace("run", "plan.yaml", "--yes", "--json", **secrets)
        assert result.code in {0, 1}, result.said
        server.shutdown()
    return Seen(repo, result, outside, before)


def test_f1_the_host_and_the_users_repository_are_untouched(villains):
    repo = villains.repo
    assert (repo.path / "README.md").read_text() == "a repository\n"
    assert (repo.path / ".git" / "HEAD").is_file()
    assert Path("/bin/sh").exists()
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    assert repo.git("status", "--porcelain") == ""
    assert repo.leftovers() == []


def test_f3_nothing_is_written_through_a_link_and_the_link_is_named(villains):
    assert (villains.outside / "victim.txt").read_text() == "precious\n"
    assert villains.module("Links")["state"] == "failed"
    assert "integrity.symlink" in villains.codes("Links")
    assert villains.repo.show("lnk/old.txt") == "old"


def test_f4_what_a_script_writes_out_of_scope_is_never_merged(villains):
    repo, head = villains.repo, villains.head("Scripts")
    assert repo.show("other/theirs.txt") == "theirs"
    assert repo.show("README.md") == "a repository"
    assert "new.txt" not in repo.files()
    outside = repo.show("other/theirs.txt", head) != "theirs" or "new.txt" in repo.files(head)
    assert not outside or "scope.outside" in villains.codes("Scripts"), "blocked by the mount or named by the diff"


def test_f5_nothing_that_a_worker_planted_runs_on_the_host(villains):
    repo = villains.repo
    run = villains.status["run_id"]
    for command in (["review", run], ["review", run, "--diff"], ["review", run, "--stat"], ["refresh", run, "--full"]):
        repo.grace(*command).exits(0)
    assert "plt/x.txt" in repo.files(villains.head("Plants")), "the villain was at work"
    assert not (villains.outside / "ran").exists()


def test_f7_nothing_answers_a_worker(villains):
    assert villains.repo.show("src/calls.txt", villains.head("Calls")) == "[]"


def test_f8_the_canary_is_nowhere(villains):
    repo, run = villains.repo, villains.status["run_id"]
    assert "GRACE_MODULE=Spies" in repo.show("src/spies.txt", villains.head("Spies")), "the spy was at work"
    said = [villains.run.said]
    for command in ("status", "packets", "review", "events"):
        said += [repo.grace(command, run, *how).exits(0).said for how in ([], ["--json"])]
    assert CANARY not in "".join(said)
    for folder in (repo.path / ".git" / "grace", repo.path / ".grace"):
        for path in folder.rglob("*"):
            assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path
    listed = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").splitlines()
    blobs = [line.split()[0] for line in listed if line.endswith("blob")]
    whole = subprocess.run(
        ["git", "cat-file", "--batch"], cwd=repo.path, input="\n".join(blobs).encode(), capture_output=True, check=True
    )
    assert CANARY.encode() not in whole.stdout


def test_f8_no_inspection_and_no_image_shows_the_canary(repo, do, docker_engine):
    repo.plan({"A": {"shell": "printf there > src/a.txt; sleep 600", "write_scope": ["src/a.txt"]}}, sandbox="docker")
    process = repo.start("run", "plan.yaml", "--yes", "--json", OPENAI_API_KEY=CANARY, SECRET=CANARY)
    do.wrote(repo, "there")
    run = repo.status()["run_id"]
    (name,) = do.containers(run)
    shown = do.docker("inspect", name)
    assert CANARY not in shown
    image = json.loads(shown)[0]["Image"]
    assert CANARY not in do.docker("inspect", image) + do.docker("history", "--no-trunc", image)
    repo.grace("cancel", run).exits(0)
    process.stdout.read()
    assert process.wait(timeout=60) == 1
    assert do.containers(run) == []


def test_f2_a_patch_out_of_the_tree_is_refused_before_anything_is_written(repo):
    """Each names a path that no module may write, in a spelling of its own."""
    paths = [
        "../x",
        "/etc/x",
        ".git/config",
        ".GIT/config",
        "src/../../x",
        "src/.git/hooks/pre-commit",
        ".grace/x",
        "git~1/config",
    ]
    modules, agents, files = {}, {}, {}
    for number, path in enumerate(paths):
        files[f"p/{number}.diff"] = (
            f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
        )
        agents[f"p{number}"] = {"kind": "patch", "patch": f"p/{number}.diff"}
        modules[f"M{number}"] = {"agent": f"p{number}", "write_scope": [f"src/{number}/"]}
    repo.commit("patches", files)
    config = (repo.path / ".git" / "config").read_bytes()
    repo.plan(modules, agents=agents)
    repo.grace("run", "plan.yaml", "--yes").exits(1)
    for module in repo.status()["modules"]:
        path = paths[int(module["id"][1:])]
        assert module["state"] == "failed", path
        assert module["attempt"] == 1, "a patch that is refused is refused again"
        assert any(path in str(f) for f in module["findings"]), (path, module["findings"])
    assert (repo.path / ".git" / "config").read_bytes() == config
    assert not (repo.path.parent / "x").exists()


@pytest.mark.parametrize(
    ("plan", "said"),
    [({"sandbox": "docker", "image": {"name": "grace-cases-never-built:1"}}, "grace-cases-never-built"),
     ({"sandbox": "docker", "image": {"dockerfile": "Nowhere"}}, "Nowhere"),
     ({"sandbox": "bubblewrap", "image": {"name": "grace-cases-never-built:1"}}, "grace-cases-never-built")],
    ids=["no image", "no Dockerfile", "no image for bubblewrap"],
)  # fmt: skip
def test_f6_without_its_image_nothing_runs(repo, docker_engine, plan, said):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}, **plan)
    before = repo.refs()
    result = repo.grace("run", "plan.yaml", "--yes")
    assert result.code in {2, 3}, result.said
    assert "Traceback" not in result.said
    lines = result.err.strip().splitlines()
    assert said in "".join(lines[-2:])
    assert result.code == 2 or lines[-1].startswith("  hint: ")
    assert repo.refs() == before
