"""The commands: one module each, with `main(options)` that returns the exit code."""
