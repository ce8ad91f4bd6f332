"""Live knobs: a page on this machine where a result is run again while its knobs are moved."""
