"""What is kept of a run, and how."""
