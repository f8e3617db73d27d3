"""Go: packages as folders, modules by go.mod, workspaces by go.work."""
