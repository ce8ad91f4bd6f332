"""Storage of runs: records, packs, summaries, queries, tags, figures and tables."""
