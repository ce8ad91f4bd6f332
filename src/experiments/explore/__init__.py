"""A local web page that runs a result again while its parameters are changed."""
