import pytest

from reviewer.gates.secrets import secrets_in

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
