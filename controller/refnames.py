"""The names of grace's refs. Branches exist while a run lives; at its end they move below refs/grace/runs."""


def branches(run_id: str) -> str:
    """Return the prefix of the live run's branches."""
    return f"refs/heads/grace/{run_id}/"


def integration(run_id: str) -> str:
    """Return the branch where accepted modules are merged."""
    return f"{branches(run_id)}integration"


def attempt(run_id: str, module: str, number: int) -> str:
    """Return the branch of one attempt's tree."""
    return f"{branches(run_id)}{module}/attempt-{number}"


def edited(run_id: str, module: str, number: int) -> str:
    """Return the branch of the tree that a person made from an attempt's."""
    return f"{attempt(run_id, module, number)}-edited"


def kept(run_id: str) -> str:
    """Return the prefix below which a run's history stays."""
    return f"refs/grace/runs/{run_id}/"


def rescue(run_id: str, module: str, number: int) -> str:
    """Return the ref of content that nobody accepted but nobody may lose."""
    return f"{rescues(run_id)}{module}/{number}"


def rescues(run_id: str) -> str:
    """Return the prefix of a run's rescue refs."""
    return f"refs/grace/rescue/{run_id}/"
