"""OpenAI's protocol: a model with a memory, its embeddings, and its errors. Decides nothing about memories."""
