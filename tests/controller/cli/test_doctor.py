"""grace doctor on the command line: the table of effects."""

import json
import re
from pathlib import Path

from jsonschema import Draft202012Validator

from controller.cli.doctor import effects
from packets.effects import EFFECTS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "json.md").read_text()


def test_every_effect_is_shown_with_what_undoes_it(capsys):
    assert effects(as_json=False) == 0
    shown = capsys.readouterr().out
    for one in EFFECTS.values():
        assert re.search(rf"^{re.escape(one.name)} +{one.reversal}", shown, re.MULTILINE)
        assert one.undone_by in shown
    assert re.search(r"^push +irreversible .*permission: push$", shown, re.MULTILINE)


def test_the_json_is_what_the_page_says(capsys):
    assert effects(as_json=True) == 0
    shown = json.loads(capsys.readouterr().out)
    schema = re.search(r"```json doctor-effects\n(.*?)```", PAGE, re.DOTALL)
    Draft202012Validator(json.loads(schema[1])).validate(shown)
    assert [one["name"] for one in shown] == list(EFFECTS)
