"""The meanings of code by a service that the owner chose: asked for once, later or when a search needs them first."""
