"""What `models.datasets` is made of: kinds of content, readers of files, registries, stand-ins."""
