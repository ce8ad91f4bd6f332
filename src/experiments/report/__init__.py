"""The report: a static site generated from recorded runs."""
