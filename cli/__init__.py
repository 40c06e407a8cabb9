"""The command line: a thin client of the daemon, generated from the table of operations."""
