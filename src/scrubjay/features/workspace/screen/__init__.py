"""What is to be seen on this machine: windows and what is in them, or who is there and what runs. Changes nothing."""
