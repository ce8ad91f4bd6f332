"""What MLflow is told, and how."""
