"""A small shop with two circles, asked about through a real repository."""

import pytest

from controller.graph.asking.meaning import Asked

SHOP = {
    "app/__init__.py": "",
    "app/money.py": "class Money:\n    def add(self, other):\n        return self\n",
    "app/tax.py": "from app.money import Money\n\n\ndef tax(m: Money):\n    return m.add(m)\n",
    "app/cart.py": "import requests\nfrom app.tax import tax\n\n\nclass Cart:\n    def total(self):\n"
    "        return tax(1)\n",
    "app/checkout.py": "from app.cart import Cart\n\n\ndef checkout(cart: Cart):\n    return cart.total()\n",
    "app/one.py": "import app.two\n",
    "app/two.py": "import app.one\n",
    "tests/test_tax.py": "from app.tax import tax\n\n\ndef test_tax():\n    assert tax(1)\n",
    "README.md": "hello\n",
}


@pytest.fixture
def shop(repo, plan):
    found = plan([{"id": "Billing", "write_scope": ["app/tax.py", "app/money.py"]}])
    return Asked(repo.knowledge, repo.tree(SHOP), "HEAD", found)
