"""Answer one question from all stores, with citations.

Routes a question to the stores that can answer it, queries them within a time limit and writes one answer in which
every statement cites its source. Returns no answer rather than an unsupported one.
"""
