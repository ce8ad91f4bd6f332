"""One module a verb of the command line; each has `main(options) -> exit code`."""
