"""Knowledge graph of entities and triples: queries, rules, inference and proofs. Independent of the memory store."""
