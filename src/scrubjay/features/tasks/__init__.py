"""What is to be done: tasks and goals. Knows no memories; what may be written is decided by rules that it is handed."""
