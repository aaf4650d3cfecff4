"""What needs several stores: a question to all of them, what to know when a session begins. Keeps nothing itself."""
