"""From plan.yaml to a checked Plan with its waves."""
