"""The record of who called what and what came of it, in files that several processes share."""
