"""Recipe of the bundled embedding model: harvest, vocabulary, start table, training, evaluation, output."""
