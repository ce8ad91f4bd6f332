"""The studies, one module a family. Importing a module registers its studies."""
