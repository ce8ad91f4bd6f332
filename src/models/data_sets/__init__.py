"""Parts of `bythebook.models.datasets`: kinds of content, file readers, registries, stand-ins."""
