// Nothing: what Bun takes to start and to end.
