"""From a subtotal to what is to pay."""
