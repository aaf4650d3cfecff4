"""How the bundled embedding model is made: harvest, vocabulary, start table, training, evaluation, table."""
