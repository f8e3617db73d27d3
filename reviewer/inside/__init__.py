"""What is mounted into the sandbox of the checks: a POSIX driver and a pytest plugin of standard library only."""
