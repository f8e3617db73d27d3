"""The sub-commands with verbs of their own. Only the one that is asked for is loaded; help needs just the names."""

import typer

_GROUPS = {
    "plan": ("controller.cli.plan", "Check a plan and show its waves."),
    "graph": ("controller.cli.graph", "Ask the knowledge graph of any commit."),
    "sandbox": ("controller.cli.sandbox", "Build, list and prune worker images."),
}


def mount(app: typer.Typer, asked: list[str]) -> None:
    """Add the groups to `app`, with their verbs where one of them is asked for."""
    import importlib

    for name, (module, text) in _GROUPS.items():
        group = importlib.import_module(module).app if asked == [name] else typer.Typer(help=text)
        if asked != [name]:
            group.callback(invoke_without_command=True)(lambda: None)
        app.add_typer(group, name=name, help=text, rich_help_panel=None)
