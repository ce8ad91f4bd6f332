"""A small vocabulary for figures, and how they are laid out and saved."""
