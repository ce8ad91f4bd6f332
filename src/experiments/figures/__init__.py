"""How recorded outcomes are drawn: a module a study, beside it by name."""
