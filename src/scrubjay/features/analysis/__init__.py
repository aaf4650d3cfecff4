"""Statistical analysis of numeric series: correlations, trends, changepoints, forecasts, anomalies and causality.

Each method is a pure function. With too few points for a sound result it returns none instead of a guess.
"""
