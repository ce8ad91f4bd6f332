"""Figures of filters over continuous states and of learning them."""
