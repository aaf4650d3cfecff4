"""Extract lasting facts from conversation turns, by a language model or by rules.

Only explicit statements become facts, never conclusions. Each fact is a memory whose provenance lists its turns.
"""
