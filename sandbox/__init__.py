"""Where our machine meets foreign code: engines, git, workspaces. The only room that starts processes."""
