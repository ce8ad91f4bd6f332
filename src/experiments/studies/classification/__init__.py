"""From points to classes."""
