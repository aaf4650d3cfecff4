"""Values, errors and progress that every room shares. No I/O."""
