"""One attempt at one module: packet out, worker in its sandbox, tree back, verdict."""

import hashlib

from controller import refnames
from controller.checks import checked, tried
from controller.compose import compose, to_yaml
from controller.context import Context
from controller.copies import write_packet, write_review
from controller.engine import Steps
from controller.feedback import decisions, feedback, messages
from controller.messages import attempt_message
from controller.own_work import compared, told_of_it, without_own_work
from controller.refreshing.automatic import module as refreshed
from controller.rescue import keep, keep_tree
from controller.undone import undone
from packets.agent import PatchAgent
from packets.errors import Interrupted
from packets.events import Action, Event, EventType
from packets.outcome import AttemptOutcome, StopReason
from packets.packet import Base, ExecutionPacket
from packets.plan import Module
from packets.protected import is_protected
from packets.report import ReportStatus
from packets.verdict import CheckResult, Decision, Verdict
from reviewer.case import Case
from reviewer.proving import Trial, Tried
from reviewer.review import review
from sandbox.effect import effect
from worker.attempt import attempt as work
from worker.attempt import discard_attempt, job_name


def carry_out(ctx: Context, action: Action, step: Steps) -> Event:
    """Take one attempt from its packet to its verdict; every step is recorded and can be cut off anywhere."""
    packet = ExecutionPacket.model_validate_json(step("packet", lambda: _packet(ctx, action)))
    outcome = AttemptOutcome.model_validate_json(step("work", lambda: _work(ctx, packet, action.data["by_hand"])))
    if outcome.reason is StopReason.CANCELLED:
        return _event(EventType.ATTEMPT_STOPPED, action, reason="stopped before its end")
    said = step("verdict", lambda: _judge(ctx, packet, outcome))
    if not said:
        return _event(EventType.ATTEMPT_STOPPED, action, reason="stopped while it was judged")
    verdict = Verdict.model_validate_json(said)
    return _judged(ctx, action, packet, outcome, verdict)


def _packet(ctx: Context, action: Action) -> str:
    """Compose the packet, once for each attempt: an attempt that starts anew keeps the packet it was issued."""
    issued = ctx.records.attempt(action.module, action.attempt)
    if issued is None:
        packet = _composed(ctx, action)
        yaml = to_yaml(packet)
        ctx.records.put_packet(packet, yaml)
        write_packet(ctx.roots, ctx.run_id, packet.module_id, packet.attempt, yaml)
    else:
        packet = issued.packet
    ctx.say(_event(EventType.ATTEMPT_STARTED, action, packet_id=packet.packet_id, base=packet.base.commit))
    return packet.model_dump_json()


def _composed(ctx: Context, action: Action) -> ExecutionPacket:
    commit = ctx.tip()
    module = ctx.plan.module(action.module)
    told = action.data.get("messages", ())
    events = ctx.store.events(ctx.run_id) if action.attempt > 1 or told else []
    base = Base(commit=commit, tree=ctx.git.tree(commit))
    findings = (*feedback(ctx.records, events, module.id, action.attempt), *messages(events, told))
    return compose(
        ctx.plan,
        ctx.run.plan_digest,
        module,
        run_id=ctx.run_id,
        wave=action.data["wave"],
        attempt=action.attempt,
        base=base,
        findings=(*told_of_it(ctx, module.id, base), *findings),
        delivered=_delivered(ctx, module),
        knowledge=ctx.knowledge,
        git=ctx.git,
        patch_digest=_patch_digest(ctx, module),
        decisions=decisions(ctx.records, module.id, action.attempt),
    )


def _delivered(ctx: Context, module: Module) -> list[str]:
    """Say what the modules it depends on brought: their purpose and files."""
    lines, gone = [], undone(ctx.store.db, ctx.run_id)
    for name in module.depends_on:
        live = [a for a in ctx.records.attempts(name) if a.packet.attempt > gone.get(name, 0)]
        accepted = [a for a in live if a.verdict and a.verdict.decision is Decision.ACCEPT]
        if accepted and accepted[-1].outcome:
            last = accepted[-1]
            paths = [c.path for c in ctx.git.changes(last.packet.base.tree, accepted[-1].outcome.head_tree)]
            lines.append(f"{name} delivered: {last.packet.purpose} ({', '.join(paths[:12])})")
    return lines


def _patch_digest(ctx: Context, module: Module) -> str:
    name = ctx.plan.agent_name(module)
    if not isinstance(ctx.plan.agents[name or ""], PatchAgent):
        return ""
    return "sha256:" + hashlib.sha256((ctx.folder / "agents" / f"{name}.patch").read_bytes()).hexdigest()


def _work(ctx: Context, packet: ExecutionPacket, by_hand: str) -> str:
    """Run the worker and hang its tree on a ref before anything of it may be deleted; what ended is not run again."""
    issued = ctx.records.attempt(packet.module_id, packet.attempt)
    if issued and issued.outcome and issued.outcome.reason is not StopReason.CANCELLED:
        return issued.outcome.model_dump_json()
    outcome = _persons(ctx, packet, by_hand) if by_hand else _workers(ctx, packet, issued.packet_yaml if issued else "")
    commit = ctx.git.commit(outcome.head_tree, [packet.base.commit], attempt_message(packet), ctx.plan.commit.author)
    with effect("ref.attempt"):
        ctx.git.update_ref(refnames.attempt(ctx.run_id, packet.module_id, packet.attempt), commit, None)
    if outcome.reason is StopReason.CANCELLED and outcome.head_tree != packet.base.tree:
        keep(ctx, packet.module_id, packet.attempt, commit)
    ctx.records.put_outcome(packet.module_id, packet.attempt, outcome, commit)
    discard_attempt(packet, git=ctx.git, sandbox=ctx.sandbox)
    return outcome.model_dump_json()


def _workers(ctx: Context, packet: ExecutionPacket, yaml: str) -> AttemptOutcome:
    """Run a fresh worker, or adopt the one that outlived us. What a patch made and is merged, it cannot make anew."""
    if packet.agent.spec.kind == "patch" and told_of_it(ctx, packet.module_id, packet.base):
        return AttemptOutcome(head_tree=packet.base.tree, exit_code=0, engine=ctx.sandbox.name)
    patch = ctx.folder / "agents" / f"{packet.agent.name}.patch"
    return work(
        packet,
        git=ctx.git,
        sandbox=ctx.sandbox,
        image=ctx.image,
        patch=patch if packet.agent.spec.kind == "patch" else None,
        cancelled=lambda: ctx.cancelled(packet.module_id),
        rescue=lambda tree: keep_tree(ctx, packet, tree),
        text=yaml,
    )


def _persons(ctx: Context, packet: ExecutionPacket, tree: str) -> AttemptOutcome:
    """Take the tree that a person left, brought over to the base of this attempt; in a conflict the person is right."""
    git, before = ctx.git, ctx.records.attempt(packet.module_id, packet.attempt - 1)
    if before and before.packet.base.tree != packet.base.tree:
        merged = git.merge_trees(before.packet.base.tree, packet.base.tree, tree)
        theirs, left = git.changes(before.packet.base.tree, tree), git.entries(tree)
        tree = merged.tree or git.write_tree(packet.base.tree, {c.path: left.get(c.path) for c in theirs})
    return AttemptOutcome(head_tree=tree, exit_code=0, engine="person")


def _judge(ctx: Context, packet: ExecutionPacket, outcome: AttemptOutcome) -> str:
    """Have the tree reviewed and keep the verdict; an empty answer means that we were told to stop."""

    def stop() -> bool:
        return ctx.cancelled(packet.module_id)

    ctx.note("judging", packet.module_id, packet.attempt)
    commands = (*packet.verification_excerpt.module_local_checks, *ctx.plan.checks())
    before = without_own_work(ctx, packet.module_id, packet.base)

    def check(tree: str, wanted: tuple[str, ...]) -> tuple[CheckResult, ...]:
        purpose = "check" if tree == outcome.head_tree else "check-base"  # the logs of both are kept
        name = job_name(packet.run_id, packet.module_id, packet.attempt, purpose)
        return checked(ctx, tree, wanted, name=name, limits=packet.limits, cancelled=stop)

    def prove(trial: Trial) -> Tried:
        name = job_name(packet.run_id, packet.module_id, packet.attempt, "proof")
        limits = packet.limits.model_copy(update={"deadline": packet.verification_excerpt.proof_deadline})
        return tried(ctx, trial, name=name, limits=limits, cancelled=stop)

    case = Case(
        packet=packet,
        outcome=outcome,
        git=ctx.git,
        compare=lambda claimed: compared(ctx, packet, before, outcome.head_tree, claimed),
        check=check,
        prove=prove,
        protected=lambda path: is_protected(path, commands),
        without=before,
    )
    try:
        verdict = review(case)
    except Interrupted:
        return ""
    ctx.records.put_verdict(packet.module_id, packet.attempt, verdict)
    if record := ctx.records.attempt(packet.module_id, packet.attempt):
        write_review(ctx.roots, ctx.run_id, record)
    if verdict.decision is Decision.ACCEPT:
        refreshed(ctx, packet, outcome.head_tree)
    elif outcome.head_tree != packet.base.tree:
        commit = ctx.git.resolve(refnames.attempt(ctx.run_id, packet.module_id, packet.attempt))
        keep(ctx, packet.module_id, packet.attempt, commit)
    return verdict.model_dump_json()


def _judged(ctx: Context, action: Action, packet: ExecutionPacket, outcome: AttemptOutcome, verdict: Verdict) -> Event:
    commit = ctx.git.resolve(refnames.attempt(ctx.run_id, packet.module_id, packet.attempt))
    return _event(
        EventType.ATTEMPT_JUDGED,
        action,
        decision=str(verdict.decision),
        head_tree=outcome.head_tree,
        commit=commit,
        packet_id=packet.packet_id,
        signature=_signature(verdict),
        final=_final(outcome),
        blocked=bool(outcome.report and outcome.report.status is ReportStatus.BLOCKED),
        heard=list(outcome.report.heard) if outcome.report else [],
        findings=[finding.model_dump(mode="json") for finding in verdict.findings],
        checks=[{"command": c.command, "passed": c.passed, "duration": round(c.duration, 3)} for c in verdict.checks],
    )


def _final(outcome: AttemptOutcome) -> str:
    """Say why no further attempt can help, or nothing."""
    if outcome.reason is StopReason.DEADLINE:
        return "the deadline was reached"
    return f"refused: {outcome.refusal}" if outcome.refusal else ""


def _signature(verdict: Verdict) -> str:
    """Return what makes two failures the same: codes, places and words of the errors."""
    if not verdict.errors:
        return ""
    lines = sorted(f"{f.code} {f.path} {f.message}" for f in verdict.errors)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _event(kind: EventType, action: Action, **data: object) -> Event:
    done = "" if kind is EventType.ATTEMPT_STARTED else action.id
    return Event(type=kind, module=action.module, attempt=action.attempt, action=done, data=data)
