"""Extracts definitions, imports and uses from the text of one file. Knows no other files and does no I/O."""
