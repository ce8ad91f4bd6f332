"""Exit codes: success, an unexpected verdict or failed run, invalid input, interrupted."""

OK, UNEXPECTED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
