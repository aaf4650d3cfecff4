"""Answer questions about code from its index, by rules and the use graph, with evidence for every claim."""
