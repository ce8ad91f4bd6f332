"""What the author of a study needs: studies, knobs, outcomes, claims."""
