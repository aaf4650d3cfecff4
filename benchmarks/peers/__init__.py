"""The systems that Scrubjay is compared with, one module each, in a separate environment (requirements/bench.txt)."""
