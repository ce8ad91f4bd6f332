"""How the studies of hidden Markov models look."""
