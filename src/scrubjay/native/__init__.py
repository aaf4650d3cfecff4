"""The one part that is compiled, where there is a compiler. Whoever uses it does without it as well."""
