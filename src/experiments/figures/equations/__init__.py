"""The figures of results that consist of printed equations: none."""
