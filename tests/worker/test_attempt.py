"""One attempt on real engines: what goes in, what comes out, what is left."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from packets.agent import CommandAgent
from packets.errors import GraceError
from packets.outcome import StopReason
from packets.packet import ExecutionPacket
from packets.plan import Image
from packets.report import ReportStatus
from sandbox.choose import choose, close
from sandbox.git import Content
from sandbox.image import ensure_image
from sandbox.workspace import discard, harvest
from worker.attempt import attempt, discard_attempt, job_name, workspace_of


@pytest.fixture
def run(git, engine, engine_image, tmp_path):
    """Carry out a packet and give its outcome and changes; discarded at the end."""
    done = []

    def carry_out(packet, *, patch=None, cancelled=lambda: False, rescue=None):
        done.append(packet)
        file = None
        if patch is not None:
            file = tmp_path / "agent.patch"
            file.write_bytes(patch)
        outcome = attempt(
            packet, git=git, sandbox=engine, image=engine_image, patch=file, cancelled=cancelled, rescue=rescue
        )  # fmt: skip
        changes = {c.path: (c.status, c.new_mode) for c in git.changes(packet.base.tree, outcome.head_tree)}
        return outcome, changes

    yield carry_out
    for packet in done:
        discard_attempt(packet, git=git, sandbox=engine)
        discard_attempt(packet, git=git, sandbox=engine)
        assert engine.remaining(packet.run_id) == ()
    assert list((git.roots.state / "runs").glob("*/work/*")) == []


def test_what_a_worker_gets(run, packets):
    packet = packets.script(["app/"], 'env; cat "$GRACE_PACKET"; cp "$GRACE_PACKET_JSON" app/copy.json; ls "$GRACE_IN"')
    outcome, changes = run(packet)
    said = dict(line.split("=", 1) for line in outcome.tail.splitlines() if line.split("=")[0].isupper())
    assert said["MINE"] == "yes"
    assert said["GRACE_MODULE"] == "Shop/One"
    assert (said["GRACE_RUN"], said["GRACE_ATTEMPT"]) == (packet.run_id, "1")
    assert (said["GRACE_REPO"], said["GRACE_OUT"]) == ("/repo", "/grace/out")
    document = outcome.tail[outcome.tail.index("execution_packet:") :]
    again = json.dumps(yaml.safe_load(document)["execution_packet"])
    assert ExecutionPacket.model_validate_json(again) == packet
    assert changes == {"app/copy.json": ("A", "100644")}
    assert outcome.engine in {"docker", "bubblewrap"}


def test_r2_an_attempt_that_fails_still_gives_its_tree_report_and_output(run, packets):
    report = {"status": "blocked", "summary": "no"}
    text = f"echo 2 > app/a.py; echo '{json.dumps(report)}' > $GRACE_OUT/report.json; printf 'bad\\033[31m\\n'; exit 3"
    outcome, changes = run(packets.script(["app/"], text))
    assert (outcome.exit_code, outcome.reason) == (3, StopReason.EXITED)
    assert changes == {"app/a.py": ("M", "100644")}
    assert outcome.report
    assert outcome.report.status is ReportStatus.BLOCKED
    assert outcome.tail == "bad\\x1b[31m\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("true", ""),
        ('echo \'{"status": "great"}\' > $GRACE_OUT/report.json', "status"),
        ("echo '{\"extra\": 1}' > $GRACE_OUT/report.json", "extra"),
        ("echo nonsense > $GRACE_OUT/report.json", "report.json"),
        ("ln -s /etc/passwd $GRACE_OUT/report.json", "report.json"),
        ("mkfifo $GRACE_OUT/report.json", "not a plain file"),
        ("mkdir $GRACE_OUT/report.json", "not a plain file"),
        ("head -c 2000000 /dev/zero > $GRACE_OUT/report.json", "larger"),
    ],
)
def test_a_report_is_read_strictly_and_never_through_a_link(run, packets, text, fault):
    outcome, _ = run(packets.script(["app/"], text))
    assert outcome.report is None
    assert (outcome.report_fault == "") == (fault == "")
    assert fault in outcome.report_fault


def test_c7_binary_output_and_a_very_long_line(run, packets):
    outcome, _ = run(
        packets.script(["app/"], "head -c 10000000 /dev/zero | tr '\\0' 'x'; printf '\\377\\000'; echo; echo end")
    )
    assert outcome.exit_code == 0
    assert outcome.tail.endswith("end\n")
    assert len(outcome.tail) < 5000


def test_a_late_writer_is_gone_before_the_harvest(run, packets, git):
    text = "echo 1 > app/a.py; (while :; do echo late >> app/late; done) & sleep 0.2; exit 0"
    outcome, _ = run(packets.script(["app/"], text))
    late = git.blob(git.entries(outcome.head_tree)["app/late"].blob)
    assert set(late.split(b"\n")[:-1]) == {b"late"}


@pytest.mark.parametrize("name", ["docker", "bubblewrap", "host"])
@pytest.mark.parametrize("how", ["exit", "deadline", "cancel"])
def test_what_is_harvested_can_be_changed_by_nobody_any_more(packets, git, request, name, how):
    sandbox = request.getfixturevalue("docker_engine") if name == "docker" else choose(name).sandbox
    image = "" if name == "host" else ensure_image(Image(), sandbox, Path.cwd(), progress=print).ref
    loop = "trap '' TERM HUP INT; i=0; while :; do i=$((i+1)); echo $i > app/late; echo $i > app/l$((i%9)); done"
    quiet = ">/dev/null 2>&1 </dev/null"
    mine = f'(setsid sh -c "$LATE" {quiet} &); (env -i LATE="$LATE" PATH="$PATH" setsid sh -c "$LATE" {quiet} &)'
    daemons = f"for n in 1 2 3; do {mine}; done"
    text = f"{daemons}; until [ -e app/l8 ]; do sleep 0.01; done; {'exit 0' if how == 'exit' else 'sleep 100'}"
    packet = packets(["app/"], CommandAgent(kind="command", run=("sh", "-c", text), env={"LATE": loop}), deadline=3)

    def cancelled():
        workspace = workspace_of(packet, git)
        return how == "cancel" and any((folder / "l8").exists() for folder, _ in workspace.layers)

    try:
        outcome = attempt(packet, git=git, sandbox=sandbox, image=image, patch=None, cancelled=cancelled)
        for _ in range(5):
            assert harvest(git, workspace_of(packet, git)).tree == outcome.head_tree
        assert "app/l8" in git.entries(outcome.head_tree)
    finally:
        discard_attempt(packet, git=git, sandbox=sandbox)
        if name != "docker":
            close(sandbox)


def test_deadline_and_cancel_keep_what_was_done(run, packets):
    outcome, changes = run(packets.script(["app/"], "echo 1 > app/a.py; sleep 60", deadline=1))
    assert (outcome.exit_code, outcome.reason) == (None, StopReason.DEADLINE)
    assert changes == {"app/a.py": ("M", "100644")}
    stop = threading.Event()
    threading.Timer(0.8, stop.set).start()
    outcome, changes = run(packets.script(["app/"], "echo 1 > app/a.py; sleep 60"), cancelled=stop.is_set)
    assert outcome.reason is StopReason.CANCELLED
    assert changes == {"app/a.py": ("M", "100644")}


def test_h3_what_has_ended_is_harvested_again_and_not_run_again(run, packets):
    packet = packets.script(["app/"], "date +%N > app/when")
    first, _ = run(packet)
    again, _ = run(packet)
    assert again == first


def test_an_end_that_a_power_loss_cut_off_is_no_end(run, packets, git):
    packet = packets.script(["app/"], "date +%N > app/when")
    first, _ = run(packet)
    ended = git.roots.work(packet.run_id, "Shop/One", 1) / "ended.json"
    ended.write_bytes(b"")
    rescued = []
    again, _ = run(packet, rescue=rescued.append)
    assert rescued == [first.head_tree]
    assert (again.exit_code, again.head_tree != first.head_tree) == (0, True)
    assert json.loads(ended.read_text())["exit_code"] == 0


def test_a1_unfinished_edits_of_a_dead_worker_are_handed_over_before_a_fresh_start(run, packets, git, engine):
    packet = packets.script(["app/"], "[ -e app/seen ] && exit 9; echo done > app/done")
    run(packet)
    folder = git.roots.work(packet.run_id, "Shop/One", 1)
    (folder / "ended.json").unlink()  # as if we had died while it worked
    layer = next(path for path in (folder / "layers").iterdir() if (path / "a.py").exists())
    (layer / "seen").write_text("unfinished")
    with pytest.raises(GraceError, match="unfinished"):
        run(packet)
    rescued = []
    outcome, changes = run(packet, rescue=rescued.append)
    assert [p for tree in rescued for p in git.entries(tree) if p == "app/seen"] == ["app/seen"]
    assert outcome.exit_code == 0
    assert changes == {"app/done": ("A", "100644")}


def died_while_it_worked(packet, options):
    """Be a controller that dies while its worker runs."""

    class Died(BaseException):
        pass

    def die():
        raise Died

    with pytest.raises(Died):
        attempt(packet, **options, cancelled=die)


def test_a_container_that_outlived_us_is_adopted(packets, git, docker_engine, docker_image):
    packet = packets.script(["app/"], "sleep 1; echo 1 > app/once$(ls app | grep -c once)")
    options = {"git": git, "sandbox": docker_engine, "image": docker_image, "patch": None}
    died_while_it_worked(packet, options)
    name = job_name(packet.run_id, "Shop/One", 1, "work")
    assert docker_engine.remaining(packet.run_id) == (name,)
    began = time.monotonic()
    outcome = attempt(packet, **options, cancelled=lambda: False)
    assert {c.path for c in git.changes(packet.base.tree, outcome.head_tree)} == {"app/once0"}
    assert time.monotonic() - began < 20
    discard_attempt(packet, git=git, sandbox=docker_engine)


def test_b7_a_container_whose_folder_was_deleted_is_not_adopted(packets, git, docker_engine, docker_image):
    packet = packets.script(["app/"], "sleep 1; echo 1 > app/done")
    options = {"git": git, "sandbox": docker_engine, "image": docker_image, "patch": None}
    died_while_it_worked(packet, options)
    discard(git.roots.work(packet.run_id, "Shop/One", 1))
    outcome = attempt(packet, **options, cancelled=lambda: False)
    assert {c.path for c in git.changes(packet.base.tree, outcome.head_tree)} == {"app/done"}
    discard_attempt(packet, git=git, sandbox=docker_engine)


@pytest.mark.parametrize("name", ["host", "memory"])
def test_engines_without_mounts_take_patches_too(packets, git, tmp_path, name):
    sandbox = choose(name).sandbox
    base = git.tree("main")
    head = git.import_entries(
        base, {"app/crlf.txt": Content("100755", b"one\r\n2\r\n"), "app/new": Content("100644", b"\0")}
    )
    file = tmp_path / "agent.patch"
    file.write_bytes(git.patch(base, head))
    packet = packets.patch(["app/"])
    try:
        outcome = attempt(packet, git=git, sandbox=sandbox, image="", patch=file, cancelled=lambda: False)
    finally:
        discard_attempt(packet, git=git, sandbox=sandbox)
        close(sandbox)
    assert (outcome.tail, outcome.exit_code, outcome.head_tree) == ("", 0, head)


def test_d1_workers_at_once_on_one_repository(git, packets, engine, engine_image):
    made = [packets.script(["app/"], f"echo {n} > app/f{n}; git add -A; git commit -qm x") for n in range(6)]

    def work(packet):
        outcome = attempt(
            packet, git=git, sandbox=engine, image=engine_image, patch=None, cancelled=lambda: False
        )  # fmt: skip
        discard_attempt(packet, git=git, sandbox=engine)
        return outcome.exit_code, {c.path for c in git.changes(packet.base.tree, outcome.head_tree)}

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, made)) == [(0, {f"app/f{n}"}) for n in range(6)]


# --- the patch agent, exactly


def test_c4_c8_a_patch_is_applied_byte_and_mode_exact(run, packets, git):
    base = git.tree("main")
    head = git.import_entries(
        base,
        {
            "app/a.py": Content("100755", b"a = 1\nb = 3\nc = 3\n"),
            "app/crlf.txt": Content("100644", b"one\r\nTWO\r\n"),
            "app/latin": Content("100644", b"caf\xe9!"),
            "app/bin": Content("100644", bytes(range(255, -1, -1))),
            "app/new/empty": Content("100644", b""),
            "app/link": Content("120000", b"a.py"),
            "app/ünï code.txt": Content("100644", b"mixed\r\neol\n"),
            'app/q"uo\te': Content("100644", b"x"),
        },
    )
    outcome, _ = run(packets.patch(["app/"]), patch=git.patch(base, head))
    assert (outcome.refusal, outcome.exit_code, outcome.tail) == ("", 0, "")
    assert outcome.head_tree == head


def test_a_patch_that_does_not_apply_fails_and_writes_nothing(run, packets, git):
    patch = b"--- a/app/a.py\n+++ b/app/a.py\n@@ -1 +1 @@\n-other\n+new\n"
    outcome, changes = run(packets.patch(["app/"]), patch=patch)
    assert outcome.exit_code not in (0, None)
    assert "patch does not apply" in outcome.tail
    assert changes == {}


def test_f2_a_patch_that_leaves_the_scope_is_refused_before_anything_is_made(run, packets, git):
    patch = b"diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n"
    packet = packets.patch(["app/"])
    outcome, changes = run(packet, patch=patch)
    assert "../x" in outcome.refusal
    assert (outcome.exit_code, changes) == (None, {})
    assert not git.roots.work(packet.run_id, "Shop/One", 1).exists()
