"""Mira's web: its addresses under `/api`, its chat, and its stream of events. Decides nothing about memories."""
