"""Speed as ratios: ours and the way people would do it instead, interleaved in one run."""
