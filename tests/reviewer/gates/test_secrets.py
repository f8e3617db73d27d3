import time

import pytest

from reviewer.gates.secrets import secrets_in
from reviewer.review import review

LETTERS = "Zq7Lm2Xc9Vb4Nk8Jh3Gf6Ds1Ap5"


def letters(count):
    return (LETTERS * 10)[:count]


# Put together here, so that this file holds none.
SECRETS = {
    "AWS": "AKIA" + "Q3EGRPLVN7MTW2ZK",
    "GitHub": "ghp" + "_" + letters(36),
    "GitLab": "glpat" + "-" + letters(20),
    "Slack": "xoxb" + "-92746183012-" + letters(24),
    "Stripe": "sk_" + "live_" + letters(24),
    "Google": "AIza" + letters(35),
    "Anthropic": "sk-" + "ant-api03-" + letters(40),
    "OpenAI": "sk-" + "proj-" + letters(20) + "T3BlbkFJ" + letters(20),
    "npm": "npm" + "_" + letters(36),
    "SendGrid": "SG" + "." + letters(22) + "." + letters(43),
    "private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + letters(64) + "\n",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_form_is_known(kind):
    ((what, start, _),) = secrets_in(b"x = '" + SECRETS[kind].encode() + b"'\n")
    assert kind in what
    assert start == 5


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "IOSFODNN7EXAMPLE",
        "AKIA" + "XXXXXXXXXXXXXXXX",
        "ghp" + "_" + "x" * 36,
        "PAKIA" + "Q3EGRPLVN7MTW2ZK",
        "-----BEGIN PUBLIC KEY-----\n" + letters(64),
        "-----BEGIN RSA " + "PRIVATE KEY-----\n...\n",
        "sk-" + "something-else",
        "d41d8cd98f00b204e9800998ecf8427e",
        "password = 'hunter2'",
    ],
)
def test_examples_and_others_are_not(text):
    assert list(secrets_in(text.encode())) == []


def test_the_finding_names_the_place_and_not_the_secret(bench):
    verdict = bench.judge(bench.good | {"app/extra/k.py": f"a = 1\nkey = '{SECRETS['AWS']}'\n"})
    (finding,) = verdict.errors
    assert (finding.path, finding.line) == ("app/extra/k.py", 2)
    assert SECRETS["AWS"] not in verdict.model_dump_json()


def test_only_new_ones_count(bench, monkeypatch):
    text = f"key = '{SECRETS['AWS']}'\n"
    monkeypatch.setattr(bench, "base", bench.tree(bench.base, {"app/extra/k.py": text}))
    assert bench.errors(bench.good | {"app/extra/k.py": text + "x = 1\n"}) == set()
    assert bench.errors(bench.good | {"app/extra/k.py": None, "app/extra/moved.py": text}) == set()
    assert bench.errors(bench.good | {"app/extra/k.py": text + SECRETS["npm"]}) == {"integrity.secret"}


def test_a_binary_file_hides_nothing(bench):
    data = b"\x00\xff" + SECRETS["GitHub"].encode() + b"\x00"
    assert bench.errors(bench.good | {"app/extra/k.bin": data}) == {"integrity.secret"}


@pytest.mark.parametrize("unit", ["\0", "sk-", "-----BEGIN A ", "T3BlbkFJ", "xoxb-1"])
def test_g4_ten_megabytes_of_a_lookalike_are_read_in_seconds(unit):
    data = (unit * ((10 << 20) // len(unit))).encode()
    before = time.process_time()
    assert list(secrets_in(data)) == []
    assert time.process_time() - before < 20


def test_g4_a_file_full_of_secrets_is_not_read_to_its_end(bench):
    data = "".join(f"ghp_{n:08}{LETTERS}q\n" for n in range(100_000))
    before = time.process_time()
    findings = bench.judge(bench.good | {"app/extra/k.txt": data}).errors
    assert time.process_time() - before < 20
    assert {finding.code for finding in findings} == {"integrity.secret"}
    assert len(findings) <= 51


def test_g4_a_file_that_is_too_big_is_rejected_for_that_and_not_read(bench):
    case = bench.with_sizes(bench.case(bench.good | {"app/extra/k.bin": SECRETS["npm"] + "x" * 2000}), one=1000)
    assert {finding.code for finding in review(case).errors} == {"integrity.size"}
