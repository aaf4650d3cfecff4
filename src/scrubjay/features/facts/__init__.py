"""Extract lasting facts from conversation turns, by rules or by a language model."""
