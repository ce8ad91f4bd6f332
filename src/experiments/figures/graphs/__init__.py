"""How the outcomes of the studies of graphical models are drawn."""
