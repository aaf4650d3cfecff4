"""Questions about code answered from its index, by rules and the graph; every claim has its evidence."""
