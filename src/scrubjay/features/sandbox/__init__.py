"""Run programs that agents wrote, isolated in WebAssembly and in confined worker processes.

A program has no files, network or subprocesses. It can call tools through a bridge that the caller passes in; the
package itself knows no tool. Each run gets a new JavaScript context that is discarded afterwards.
"""
