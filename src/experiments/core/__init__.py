"""Studies, parameters, outcomes, expressions, claims and verdicts."""
