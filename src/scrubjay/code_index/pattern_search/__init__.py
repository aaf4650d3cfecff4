"""Search code by pattern: regular expressions, and code with holes, in child processes that can be killed."""
