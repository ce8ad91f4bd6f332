"""How the outcomes of the studies of probability are drawn."""
