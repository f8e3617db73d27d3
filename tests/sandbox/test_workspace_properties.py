"""For any tree, any scope, any edit: what is shown is the base, and what comes back is what is there."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packets.agent import CommandAgent
from packets.packet import AgentChoice, Base, ExecutionPacket
from sandbox import layers
from sandbox.git import Content, Entry, Git
from sandbox.layers import lay_out
from sandbox.workspace import harvest, prepare

NAMES = st.sampled_from(["a", "b", "c d", "-x", "é", ".hidden", "\udcff", "A", "x.py", ".gitignore", ".gitattributes"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
CONTENTS = st.one_of(
    st.tuples(
        st.sampled_from(["100644", "100755"]),
        st.sampled_from([b"", b"x", b"x\r\n", b"\0\xff", b"*\n", b"* text eol=crlf"]),
    ),
    st.tuples(st.just("120000"), st.sampled_from([b"a", b"../..", b"/etc/passwd", b"\xff"])),
)
SCOPE = st.dictionaries(st.one_of(st.just(""), PATHS), st.booleans(), min_size=1, max_size=4)


def fitting(files):
    """Drop what no file system can hold: a file with others below it."""
    return {p: f for p, f in files.items() if not any(other.startswith(f"{p}/") for other in files)}


TREES = st.dictionaries(PATHS, CONTENTS, max_size=10).map(fitting)


@pytest.fixture(scope="module")
def git():
    folder = tempfile.mkdtemp(prefix="grace-properties-")
    subprocess.run(["git", "init", "-q", folder], check=True)
    with Git.discover(Path(folder)) as git:
        yield git
    shutil.rmtree(folder)


class FullCopy:
    name = "host"
    owner = None
    gaps = ()


def write(root, files):
    for path, (mode, data) in files.items():
        spot = root / path
        spot.parent.mkdir(parents=True, exist_ok=True)
        if mode == "120000":
            spot.symlink_to(data.decode("utf-8", "surrogateescape"))
        else:
            spot.write_bytes(data)
            spot.chmod(int(mode, 8) & 0o777)


def clear(root):
    for child in root.iterdir():
        if child.name == ".git":
            continue
        shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()


@settings(max_examples=15, deadline=None)
@given(base=TREES, head=TREES)
def test_c8_any_tree_into_any_other_byte_and_mode_exact(git, base, head):
    tree = git.import_entries(git.empty_tree(), {p: Content(m, d) for p, (m, d) in base.items()})
    commit = git.commit(tree, [], "base", date="2020-01-01T00:00:00Z")
    spec = CommandAgent(kind="command", run=("true",))
    packet = ExecutionPacket(
        run_id="r", phase="p", wave=1, attempt=1, base=Base(commit=commit, tree=tree), plan_digest="sha256:0",
        module_id="M", purpose="p", write_scope=("**",), agent=AgentChoice(name="s", spec=spec),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as spot:
        workspace = prepare(git, packet.stamped(), FullCopy(), Path(spot) / "w")
        assert harvest(git, workspace) == (tree, ())
        clear(workspace.repo)
        write(workspace.repo, head)
        found, anomalies = harvest(git, workspace)
    assert anomalies == ()
    shown = {p: (e.mode, git.blob(e.blob)) for p, e in git.entries(found).items()}
    assert shown == head


@settings(max_examples=150, deadline=None)
@given(files=TREES, scope=SCOPE, max_binds=st.sampled_from([0, 1, 2, 100]))
def test_the_mounts_together_show_exactly_the_base(files, scope, max_binds):
    entries = {path: Entry(mode, "0" * 40) for path, (mode, _) in files.items()}
    deep = {f for f, all_beneath in scope.items() if all_beneath}
    wanted = {f: d for f, d in scope.items() if not any(f != a and (not a or f.startswith(f"{a}/")) for a in deep)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers, "MAX_BINDS", max_binds)
        layout = lay_out(entries, tuple(wanted.items()))
    shown = composed(layout, entries)
    assert set(shown) == set(entries)
    granted = {path for path in entries if any(grants(f, d, path, entries) for f, d in wanted.items())}
    writable = {path for path, can in shown.items() if can}
    assert granted <= writable
    if max_binds == 100 and all(name.isprintable() for name in entries):
        assert writable == granted


def grants(folder, all_beneath, path, entries):
    """Say whether a scope's folder makes a file of the base writable; where a file is in its place, its neighbours."""
    names = folder.split("/")
    for end in range(1, len(names) + 1):
        if "/".join(names[:end]) in entries:
            folder, all_beneath = "/".join(names[: end - 1]), False
            break
    return path.rpartition("/")[0] == folder or (all_beneath and (not folder or path.startswith(f"{folder}/")))


def composed(layout, entries):
    """Put the mounts over each other, as an engine does: path -> writable."""
    mounts = [(layer.folder, layer) for layer in layout.layers] + [(folder, None) for folder in layout.binds]
    shown = {} if any(layer.folder == "" for layer in layout.layers) else dict.fromkeys(entries, False)
    for target, layer in sorted(mounts, key=lambda mount: mount[0]):
        for path in [p for p in shown if not target or p.startswith(f"{target}/")]:
            del shown[path]
        for path in entries:
            if layer is None and path.startswith(f"{target}/"):
                shown[path] = False
            elif layer is not None and layer.holds(path):
                shown[path] = layer.writable
    return shown
