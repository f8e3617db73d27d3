"""A push as the user, to real remotes: exactly one commit, never forced, never asking, with the user's own set-up."""

import base64
import stat
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from packets.errors import GraceError, MachineLacks
from sandbox.git.push import environment, push, remotes


@pytest.fixture
def remote(repo, tmp_path):
    path = tmp_path / "remote.git"
    repo.git("init", "-q", "--bare", str(path))
    repo.commit({"a": b"a"})
    repo.git("remote", "add", "origin", str(path))
    return path


def at(repo, remote, branch="main"):
    return repo.git("-C", str(remote), "rev-parse", "--verify", "-q", branch, ok=False)


def send(repo, commit, branch="main", remote="origin", unwanted=lambda: False):
    return push(repo.path, remote, commit, branch, unwanted)


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


# --- what is pushed


def test_exactly_the_commit_goes_to_the_branch_of_that_name(repo, remote):
    landed = repo.git("rev-parse", "HEAD")
    repo.git("tag", "-a", "v1", "-m", "v1")
    repo.commit({"b": b"later"})
    repo.git("config", "push.followTags", "true")
    repo.git("config", "push.default", "matching")
    assert send(repo, landed) == (True, f"pushed {landed[:12]} to main of origin")
    held = repo.git("-C", str(remote), "for-each-ref", "--format=%(refname) %(objectname)")
    assert held == f"refs/heads/main {landed}"


def test_what_is_there_already_is_left_alone_and_no_hook_runs(repo, remote, tmp_path):
    landed = repo.git("rev-parse", "HEAD")
    send(repo, landed)
    hook = program(repo.path / ".git/hooks/pre-push", f"#!/bin/sh\necho ran >> {tmp_path}/ran\n")
    assert send(repo, landed) == (True, f"origin has {landed[:12]} on main already")
    assert not (tmp_path / "ran").exists()
    hook.unlink()


@pytest.mark.parametrize("known", ["known here", "known to the remote only"])
def test_a_remote_that_went_on_from_it_has_it(repo, remote, tmp_path, known):
    landed = repo.git("rev-parse", "HEAD")
    send(repo, landed)
    other = tmp_path / "other"
    repo.git("clone", "-q", str(remote), str(other))
    repo.git("commit", "-q", "--allow-empty", "-m", "on", cwd=other)
    repo.git("push", "-q", "origin", "HEAD:main", cwd=other)
    if known == "known here":
        repo.git("fetch", "-q")
    before = repo.git("for-each-ref")
    ahead = at(repo, remote)
    assert send(repo, landed) == (True, f"origin has {landed[:12]} on main already")
    assert at(repo, remote) == ahead
    assert repo.git("for-each-ref") == before, "looking moves no ref of the user's"
    assert not (repo.path / ".git/FETCH_HEAD").exists() or known == "known here"


def test_a_remote_that_went_elsewhere_refuses_and_is_not_forced(repo, remote, tmp_path):
    send(repo, repo.git("rev-parse", "HEAD"))
    other = tmp_path / "other"
    repo.git("clone", "-q", str(remote), str(other))
    repo.git("commit", "-q", "--allow-empty", "-m", "theirs", cwd=other)
    repo.git("push", "-q", "origin", "HEAD:main", cwd=other)
    theirs = at(repo, remote)
    mine = repo.commit({"b": b"mine"})
    repo.git("config", "remote.origin.push", "+refs/heads/*:refs/heads/*")
    ok, said = send(repo, mine)
    assert not ok
    assert "origin does not take main: [rejected]" in said
    assert "\n" not in said
    assert at(repo, remote) == theirs


def test_every_address_that_a_push_goes_to_must_have_it(repo, remote, tmp_path):
    second = tmp_path / "second.git"
    repo.git("init", "-q", "--bare", str(second))
    landed = repo.git("rev-parse", "HEAD")
    send(repo, landed)
    repo.git("remote", "set-url", "--add", "--push", "origin", str(remote))
    repo.git("remote", "set-url", "--add", "--push", "origin", str(second))
    assert send(repo, landed).ok
    assert at(repo, second) == landed


# --- the user's own hooks, on both ends


def test_the_users_own_pre_push_hook_runs_and_may_refuse(repo, remote, tmp_path):
    landed = repo.git("rev-parse", "HEAD")
    hook = program(repo.path / ".git/hooks/pre-push", f"#!/bin/sh\ncat > {tmp_path}/told\necho not today >&2\nexit 1\n")
    ok, said = send(repo, landed)
    assert not ok
    assert at(repo, remote) == ""
    assert said.startswith("origin does not take main: ")
    assert landed in (tmp_path / "told").read_text()
    program(hook, "#!/bin/sh\nexit 0\n")
    assert send(repo, landed).ok


def test_what_the_remote_says_against_it_is_told(repo, remote):
    program(remote / "hooks/pre-receive", "#!/bin/sh\necho frozen until Monday >&2\nexit 1\n")
    ok, said = send(repo, repo.git("rev-parse", "HEAD"))
    assert not ok
    assert "[remote rejected] (pre-receive hook declined); remote: frozen until Monday" in said


# --- no access


@pytest.mark.parametrize("address", ["/no/such/repository.git", "http://127.0.0.1:9/none.git"])
def test_a_remote_out_of_reach_is_said_in_a_line(repo, address):
    repo.commit({"a": b"a"})
    repo.git("remote", "add", "origin", address)
    ok, said = send(repo, repo.git("rev-parse", "HEAD"))
    assert not ok
    assert said.startswith("cannot look at origin: ")
    assert "\n" not in said


def test_a_remote_that_is_gone_is_said(repo):
    repo.commit({"a": b"a"})
    ok, said = send(repo, repo.git("rev-parse", "HEAD"))
    assert (ok, "has no remote origin" in said) == (False, True)
    with pytest.raises(GraceError):
        send(repo, "--force")


def test_one_that_nobody_wants_any_more_is_stopped(repo, remote):
    program(repo.path / ".git/hooks/pre-push", "#!/bin/sh\nexec sleep 600\n")
    looks = iter(range(10**9))
    ok, said = send(repo, repo.git("rev-parse", "HEAD"), unwanted=lambda: next(looks) > 40)
    assert (ok, at(repo, remote)) == (False, "")
    assert "stopped in the middle" in said


class _Guarded(BaseHTTPRequestHandler):
    """Asks for a password, and then knows no repository."""

    seen: list[str] = []  # noqa: RUF012

    def do_GET(self):
        given = self.headers.get("Authorization")
        self.seen.append(given or "")
        self.send_response(404 if given else 401)
        self.send_header("WWW-Authenticate", 'Basic realm="r"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def guarded(repo):
    _Guarded.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Guarded)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    repo.commit({"a": b"a"})
    repo.git("remote", "add", "origin", f"http://127.0.0.1:{server.server_port}/r.git")
    yield _Guarded.seen
    server.shutdown()
    server.server_close()


def test_the_users_credential_helper_is_asked(repo, home, guarded):
    repo.git("config", "--global", "credential.helper", "!printf 'username=zoe\\npassword=secret\\n'; :")
    ok, said = send(repo, repo.git("rev-parse", "HEAD"))
    assert not ok
    assert f"Basic {base64.b64encode(b'zoe:secret').decode()}" in guarded
    assert "secret" not in said


def test_nobody_is_asked_for_a_password(repo, guarded, tmp_path, monkeypatch):
    asked = program(tmp_path / "askpass", f"#!/bin/sh\necho asked > {tmp_path}/asked\necho secret\n")
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(asked))
    repo.git("config", "core.askPass", str(asked))
    ok, said = send(repo, repo.git("rev-parse", "HEAD"))
    assert not ok
    assert "could not read Username" in said
    assert not (tmp_path / "asked").exists()
    assert set(guarded) == {""}


def test_a_password_that_the_other_end_repeats_is_not(repo, remote):
    program(remote / "hooks/pre-receive", "#!/bin/sh\necho use https://zoe:secret@host/r.git >&2\nexit 1\n")
    ok, said = send(repo, repo.git("rev-parse", "HEAD"))
    assert (ok, "use https://host/r.git" in said) == (False, True)


def test_without_git_it_is_the_machine_that_lacks(repo, remote, monkeypatch, tmp_path):
    landed = repo.git("rev-parse", "HEAD")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineLacks):
        send(repo, landed)


def test_a_password_in_an_address_is_not_repeated(repo):
    repo.commit({"a": b"a"})
    repo.git("remote", "add", "origin", "http://zoe:secret@127.0.0.1:9/none.git")
    ok, said = send(repo, repo.git("rev-parse", "HEAD"))
    assert not ok
    assert "secret" not in said


# --- ssh


FAKE = """#!{python}
import os, shlex, subprocess, sys
open({said!r}, "a").write(shlex.join(sys.argv[1:]) + "\\n" + os.environ.get("SSH_AUTH_SOCK", "") + "\\n")
sys.exit(subprocess.call(sys.argv[-1], shell=True))
"""


@pytest.mark.parametrize("way", ["on the path", "GIT_SSH_COMMAND", "core.sshCommand", "GIT_SSH"])
def test_ssh_is_the_users_own_and_told_not_to_ask(repo, remote, tmp_path, monkeypatch, way):
    """A program in ssh's place carries git's real protocol to the real repository."""
    said = tmp_path / "said"
    ssh = program(tmp_path / "my bin/ssh", FAKE.format(python=sys.executable, said=str(said)))
    monkeypatch.setenv("SSH_AUTH_SOCK", "/the/agent")
    if way == "on the path":
        monkeypatch.setenv("PATH", str(ssh.parent), prepend=":")
    if way == "core.sshCommand":
        repo.git("config", "core.sshCommand", f"'{ssh}' -i key")
    if way == "GIT_SSH_COMMAND":
        monkeypatch.setenv("GIT_SSH_COMMAND", f"'{ssh}' -i key")
    if way == "GIT_SSH":
        monkeypatch.setenv("GIT_SSH", str(ssh))
    repo.git("remote", "set-url", "origin", f"ssh://somewhere{remote}")
    landed = repo.git("rev-parse", "HEAD")
    assert send(repo, landed) == (True, f"pushed {landed[:12]} to main of origin")
    assert at(repo, remote) == landed
    first, agent, *_ = said.read_text().splitlines()
    assert "-o BatchMode=yes" in first
    assert ("-i key" in first) == (way in {"GIT_SSH_COMMAND", "core.sshCommand"})
    assert agent == "/the/agent"


def test_an_ssh_that_we_do_not_know_is_left_as_it_is(repo, remote, tmp_path, monkeypatch):
    said = tmp_path / "said"
    tunnel = program(tmp_path / "tunnel", FAKE.format(python=sys.executable, said=str(said)))
    monkeypatch.setenv("GIT_SSH_COMMAND", str(tunnel))
    repo.git("remote", "set-url", "origin", f"ssh://somewhere{remote}")
    assert send(repo, repo.git("rev-parse", "HEAD")).ok
    assert "BatchMode" not in said.read_text()


# --- the environment


def test_what_is_passed_and_what_is_not(home, monkeypatch):
    given = {
        "HTTPS_PROXY": "http://proxy",
        "SSH_AUTH_SOCK": "/agent",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": "x",
        "GIT_SSL_CAINFO": "/ca",
        "GIT_DIR": "/elsewhere",
        "GIT_WORK_TREE": "/elsewhere",
        "GIT_INDEX_FILE": "/elsewhere",
        "GIT_TRACE": "1",
        "GIT_ASKPASS": "ask",
        "SSH_ASKPASS": "ask",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    told = environment()
    kept = {name for name, value in given.items() if told.get(name) == value}
    assert kept == set(list(given)[:6])
    assert (told["GIT_TERMINAL_PROMPT"], told["GIT_ASKPASS"]) == ("0", "")


def test_remotes_are_those_of_the_users_configuration(repo, home):
    repo.commit({"a": b"a"})
    assert remotes(repo.path) == ()
    repo.git("remote", "add", "origin", "x")
    repo.git("config", "--global", "remote.backup.url", "y")
    assert set(remotes(repo.path)) == {"origin", "backup"}
