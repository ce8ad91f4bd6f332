"""The studies, one module per family. Importing a module registers its studies."""
