"""One folder per protocol. Each translates between its wire format and the tools; decisions belong to the features."""
