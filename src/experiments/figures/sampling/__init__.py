"""How the outcomes of the studies of sampling are drawn."""
