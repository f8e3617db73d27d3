"""The one place where errors become exit codes."""

import pytest

from controller import main
from packets import errors
from packets.problem import Problem

E = errors


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (E.GraceError("m", "h"), 1), (E.UsageError("m", "h"), 2), (E.MachineLacks("m", "h"), 3),
        (E.EngineLost("m", "h"), 3),
        (E.WaitingForPerson("m", "h"), 4), (E.Interrupted("m", "h"), 130), (KeyboardInterrupt(), 130),
    ],
)  # fmt: skip
def test_each_error_has_its_code_one_line_and_a_hint(monkeypatch, capsys, fault, code):
    def fails(_args):
        raise fault

    monkeypatch.setattr(main, "_dispatch", fails)
    assert main.run([]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == ("grace: interrupted\n" if isinstance(fault, KeyboardInterrupt) else "grace: m\n  hint: h\n")


def test_a_plans_problems_are_one_line_each(monkeypatch, capsys):
    problems = tuple(Problem(file="plan.yaml", line=n, column=1, code="plan.x", message=f"m{n}") for n in (1, 2))

    def fails(_args):
        raise E.PlanInvalid(problems)

    monkeypatch.setattr(main, "_dispatch", fails)
    assert main.run([]) == 2
    assert [line.split(":")[1] for line in capsys.readouterr().err.splitlines()] == ["1", "2"]


def test_a_bug_is_not_dressed_up_as_an_error(monkeypatch):
    def fails(_args):
        raise ZeroDivisionError

    monkeypatch.setattr(main, "_dispatch", fails)
    with pytest.raises(ZeroDivisionError):
        main.run([])


def test_the_way_in_exits_with_the_code(monkeypatch):
    monkeypatch.setattr(main, "run", lambda args: 3)
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 3
