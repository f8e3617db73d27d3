"""Rows C: what git trees contain comes back exactly, and only what was meant to change changes."""

import os
import subprocess

ODD = ["two  spaces", "-dash", 'qu"ote', "漢字🎉", ":(glob)x", "[id].tsx", "back\\slash", "per%cent", "new\nline"]


def literal(path):
    """Write a path as a scope entry that names this very file."""
    return "".join(f"\\{char}" if char in "\\*?[]" else char for char in path)


def test_c1_a_submodule_stays_what_it_was(repo, tmp_path, new_repo):
    lib = new_repo("lib")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib.path), "libs/ready")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib.path), "libs/absent")
    repo.git("submodule", "--quiet", "deinit", "-f", "libs/absent")
    repo.plan(
        {
            "Looks": {
                "shell": "ls -A libs/ready libs/absent > src/seen.txt; git status --porcelain -uno >> src/seen.txt",
                "write_scope": ["src/seen.txt"],
            },
            "Moves": {"shell": "rmdir libs/ready", "write_scope": ["libs/other.txt"], "optional": True},
            "Fills": {"shell": "echo x > libs/absent/x.txt", "write_scope": ["libs/x.txt"], "optional": True},
        },
        defaults={"limits": {"attempts": 1}},
    )
    (repo.path / "libs" / "ready" / "README.md").write_text("an edit in the submodule\n")
    links = [line for line in repo.git("ls-tree", "-r", "HEAD").splitlines() if line.startswith("160000")]
    assert len(links) == 2

    repo.grace("run", "plan.yaml", "--yes").exits(0)

    assert repo.show("src/seen.txt") == "libs/absent:\n\nlibs/ready:", "empty folders, as in a fresh checkout"
    for module in ("Moves", "Fills"):
        found = repo.module(module)
        assert found["state"] == "failed"
        assert {f["code"] for f in found["findings"]} & {"scope.outside", "integrity.gitlink"}, found["findings"]
    assert [line for line in repo.git("ls-tree", "-r", "HEAD").splitlines() if line.startswith("160000")] == links
    assert (repo.path / "libs" / "ready" / "README.md").read_text() == "an edit in the submodule\n"


def test_c3_the_scope_holds_for_odd_names(repo):
    names = [name for name in ODD if "\n" not in name]
    shell = "cd src && " + " && ".join(f"printf x > ./'{name}'" for name in names)
    near = "cd src && " + " && ".join(f"printf x > ./'y{name}'" for name in ODD) + "; printf x > ./mine"
    repo.plan(
        {
            "Inside": {"shell": shell, "write_scope": [literal(f"src/{name}") for name in names]},
            "Outside": {"shell": near, "write_scope": ["src/mine"], "optional": True},
        },
        defaults={"limits": {"attempts": 1}},
    )
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.files() >= {f"src/{name}" for name in names}
    assert {name.name for name in (repo.path / "src").iterdir()} >= set(names), "the user's checkout shows them"
    assert repo.git("status", "--porcelain") == ""
    outside = repo.module("Outside")["findings"]
    named = " ".join(f["message"] + (f["path"] or "") for f in outside if f["code"] == "scope.outside")
    for name in ODD:
        assert f"src/y{name}".replace("\n", "\\n") in named or repr(name)[1:-1] in named, (name, named)


SHOUT = "import pathlib\nfor p in pathlib.Path('data').iterdir(): p.write_bytes(p.read_bytes().replace({0}, {1}))"


def shout(repo):
    """Plan a module that changes one line in every file of data/."""
    agent = {"kind": "command", "run": ["python3", "-c", SHOUT.format(b"two", b"TWO")]}
    repo.plan({"A": {"write_scope": ["data/"]}}, agents={"a": agent})


def raw(repo, path):
    done = subprocess.run(["git", "cat-file", "blob", f"HEAD:{path}"], cwd=repo.path, capture_output=True, check=True)
    return done.stdout


def test_c4_only_the_line_that_changed_differs(repo):
    before = {
        "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
        "mixed.txt": b"one\r\ntwo\nthree\r\n",
        "nofinal.txt": b"one\ntwo\nthree",
        "last.txt": b"one\ntwo",
        "latin.txt": b"caf\xe9\ntwo\n\xfcber\n",
        "cr.txt": b"one\rtwo\rthree\r",
        "bom.txt": b"\xef\xbb\xbfone\ntwo\n",
    }
    for name, data in before.items():
        (repo.path / "data").mkdir(exist_ok=True)
        (repo.path / "data" / name).write_bytes(data)
    shout(repo)
    start = repo.head
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    for name, data in before.items():
        assert raw(repo, f"data/{name}") == data.replace(b"two", b"TWO"), name
        assert (repo.path / "data" / name).read_bytes() == data.replace(b"two", b"TWO"), name
    counted = [line.split("\t") for line in repo.git("diff", "--numstat", start, "HEAD").splitlines()]
    assert [[added, gone] for added, gone, _ in counted] == [["1", "1"]] * len(before), counted


def test_c4_the_users_own_line_endings_stay_in_the_users_checkout(repo):
    """What attributes turn into CRLF and Latin-1 in a checkout is LF and UTF-8 in the repository, and stays so."""
    attributes = "data/crlf.txt text eol=crlf\ndata/latin.txt text working-tree-encoding=latin1\n"
    repo.write({".gitattributes": attributes, "data/x": ""})
    (repo.path / "data" / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (repo.path / "data" / "latin.txt").write_bytes("café\ntwo\n".encode("latin1"))
    shout(repo)
    assert raw(repo, "data/crlf.txt") == b"one\ntwo\n"
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert raw(repo, "data/crlf.txt") == b"one\nTWO\n"
    assert raw(repo, "data/latin.txt") == "café\nTWO\n".encode()
    assert (repo.path / "data" / "crlf.txt").read_bytes() == b"one\r\nTWO\r\n"
    assert (repo.path / "data" / "latin.txt").read_bytes() == "café\nTWO\n".encode("latin1")
    assert repo.git("status", "--porcelain") == ""


def test_c6_a_tracked_file_that_is_ignored_reaches_the_worker_and_comes_back(repo):
    repo.write({".gitignore": "*.log\nbuild/\n/src/\n", "build/keep.log": "one\n", "src/gone.log": "one\n"})
    repo.git("add", "-f", "build/keep.log", "src/gone.log")
    repo.commit("tracked though ignored")
    shell = "cat build/keep.log > build/copy.log; echo two >> build/keep.log; rm src/gone.log; echo new > src/new.log"
    repo.plan({"A": {"shell": shell, "write_scope": ["build/", "src/"]}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.show("build/keep.log") == "one\ntwo"
    assert repo.show("build/copy.log") == "one", "an ignored file that the worker made is harvested too"
    assert repo.show("src/new.log") == "new"
    assert "src/gone.log" not in repo.files()
    assert (repo.path / "build" / "keep.log").read_text() == "one\ntwo\n"


def test_c6_ignored_files_of_the_users_in_the_way_are_not_lost(repo):
    repo.commit("rules", {".gitignore": "*.log\n"})
    repo.plan({"A": {"shell": "echo theirs > src/a.log", "write_scope": ["src/"]}})
    (repo.path / "src" / "a.log").write_text("mine\n")
    result = repo.grace("run", "plan.yaml", "--yes").exits(4)
    assert "src/a.log" in result.said
    assert (repo.path / "src" / "a.log").read_text() == "mine\n"


def test_c7_binary_output_and_a_huge_line_do_not_stop_the_run(repo):
    shell = "head -c 4000000 /dev/urandom; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo x > src/a.txt"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}})
    result = repo.grace("run", "plan.yaml", "--yes", "--json").exits(0)
    run = result.events[-1]["run_id"]
    assert len(result.out) < 200_000
    (log,) = (repo.path / ".git" / "grace" / "runs" / run / "logs").glob("A--1.log")
    assert 0 < log.stat().st_size <= 20_000_000
    assert len(repo.grace("review", run, "--json").exits(0).out) < 200_000


def test_c8_modes_links_and_names_come_back_exactly(repo):
    repo.write(
        {"src/tool.sh": "#!/bin/sh\n", "src/plain": "p\n", "src/move.txt": "1\n2\n3\n4\n5\n6\n", "src/d/x": "x\n"}
    )
    (repo.path / "src" / "link").symlink_to("plain")
    (repo.path / "src" / "tool.sh").chmod(0o755)
    repo.commit("things")
    shell = (
        "cd src; chmod -x tool.sh; chmod 777 plain; ln -sfn tool.sh link; mkdir new; mv move.txt new/moved.txt;"
        " sed -i s/3/three/ new/moved.txt; rm -r d; : > empty; printf '\\000\\377\\r\\n' > binary; mkdir void"
    )
    repo.plan({"A": {"shell": shell, "write_scope": ["src/"]}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    listed = (line.split("\t") for line in repo.git("ls-tree", "-r", "HEAD", "src/").splitlines())
    assert {path: about.split()[0] for about, path in listed} == {
        "src/binary": "100644", "src/empty": "100644", "src/link": "120000", "src/new/moved.txt": "100644",
        "src/old.txt": "100644", "src/plain": "100755", "src/tool.sh": "100644",
    }  # fmt: skip
    assert repo.show("src/link") == "tool.sh"
    assert repo.show("src/new/moved.txt") == "1\n2\nthree\n4\n5\n6"
    assert (repo.path / "src" / "binary").read_bytes() == b"\x00\xff\r\n"
    assert os.access(repo.path / "src" / "plain", os.X_OK)
    assert not os.access(repo.path / "src" / "tool.sh", os.X_OK)
    assert (repo.path / "src" / "link").readlink().name == "tool.sh"
    assert not (repo.path / "src" / "d").exists()
    assert repo.git("status", "--porcelain") == ""
