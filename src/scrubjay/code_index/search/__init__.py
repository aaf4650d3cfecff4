"""Finding code: by its words, names, places, meaning and history."""
