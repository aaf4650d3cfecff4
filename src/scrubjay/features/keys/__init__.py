"""Who may come in, and what they may reach: keys are made, looked at and refused. Knows no protocol."""
