"""What series of numbers tell: each method a pure function that says nothing where the numbers say nothing."""
