"""The other systems, one module each; they live in an environment of their own (requirements/bench.txt)."""
