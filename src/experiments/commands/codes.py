"""Exit codes: all well, a surprise, bad input, interrupted."""

OK, UNEXPECTED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
