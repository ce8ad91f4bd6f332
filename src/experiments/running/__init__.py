"""From jobs to records."""
