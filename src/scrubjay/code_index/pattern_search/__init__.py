"""Finding code by its form, with regular expressions and code with holes, in processes that can be ended."""
