"""What agents did for tasks, how it ended, and what that was worth. Knows no memories."""
