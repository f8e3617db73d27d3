"""What is said of a check that failed."""

import pytest

from packets.verdict import CheckResult
from reviewer.gates.checks import _failed


@pytest.mark.parametrize(("code", "hinted"), [(127, True), (1, False), (126, False)])
def test_a_command_that_the_image_lacks_leads_to_the_image(code, hinted):
    (finding,) = _failed(CheckResult(command="node -e 1", exit_code=code, reason="exited", duration=0.1))
    assert ("image" in finding.hint) is hinted
