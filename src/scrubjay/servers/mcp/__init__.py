"""The Model Context Protocol, in both of its eras, over stdio and HTTP: a projection of the registry."""
