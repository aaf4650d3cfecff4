"""How things are related: triples, entities, queries, rules, proofs. Knows no memories and asks no other store."""
