"""Log recorded runs to MLflow."""
