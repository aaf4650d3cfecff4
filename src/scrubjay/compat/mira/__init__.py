"""Mira's HTTP API under `/api`, its chat and its event stream. Translates only; services make the decisions."""
