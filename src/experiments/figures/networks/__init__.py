"""Neural networks, drawn."""
