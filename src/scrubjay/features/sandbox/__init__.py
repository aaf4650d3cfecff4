"""Running programs that agents wrote, apart from everything; knows no tool, only a door to some that it is given."""
