"""OpenAI's protocol: a model with a memory, its embeddings, and its errors. Knows nothing that the dispatcher does not."""
