"""Chat with a memory: recall context, let a language model answer with tools, store the exchange.

Protocols such as Mira's routes consume the events of `ChatService`; this package knows none of them.
"""
