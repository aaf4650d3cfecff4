"""Running programs that agents wrote, apart from everything; knows no tool, and calls some by a door that it is given."""
