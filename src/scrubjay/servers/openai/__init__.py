"""OpenAI's protocol: chat completions and responses with memory, embeddings, the model list, and error bodies."""
