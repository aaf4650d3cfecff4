"""Find the files that a text names."""

from functools import cache

from scrubjay.core.lazy_regex import lazy_pattern

PATH = lazy_pattern(r"(?<![\w/.@:-])(?:\.{0,2}/)?(?:[\w.@~-]+/)*[\w@-][\w.@-]*\.([A-Za-z][A-Za-z0-9]{0,9})(?![\w/(@-])")
"""Matches a word that looks like a file's path; group 1 is its extension."""

# Without a folder, a name is a file if it has one of these extensions: "order.lines" is a field, "example.com" a host.
_EXTENSIONS = """
    adoc asm astro avif bash bat bib c cc cfg cjs clj cmake conf cpp cs css csv cts cu cxx dart db diff dockerfile
    dot editorconfig ejs env erb erl ex exs f90 fish fs gd gif gitignore go gql gradle graphql groovy h haml hbs
    hcl hpp hrl hs htm html http hx ini inl ipynb j2 java jinja jl jpg jpeg js json json5 jsonl jsonnet jsx key kt
    kts less lock log lua m4 make map markdown md mdx mjs mk ml mli mmd mod mts nim nix orc parquet patch pdf pem
    php pl plist pm png po pot prisma properties proto ps1 pug py pyi pyx r rake rb rdb rego rs rst sass sbt scala
    scss service sh sol sql sqlite srt storyboard sum svelte svg swift tex tf tfvars timer tmpl toml tpl ts tsv
    tsx ttf txt uml vb vim vue wasm webp woff woff2 wsdl xaml xib xls xlsx xml xsd xsl yaml yml zig zip zsh
"""
_NAMED = lazy_pattern(
    r"(?<![\w./-])(?:[\w.-]+/)*(?:Dockerfile|Makefile|Containerfile|Jenkinsfile|Gemfile|Rakefile|Procfile)\b"
)
# Names that end like a file but are products.
_PRODUCTS = """
    asp.net bun.js d3.js express.js next.js node.js nuxt.js react.js socket.io three.js vue.js
"""


def find_files(text: str) -> list[str]:
    """Return the paths and file names in a text, in order, with repetitions."""
    found = [
        match.group()
        for match in PATH.finditer(text)
        if ("/" in match.group() or match[1].lower() in _extensions()) and match.group().lower() not in _products()
    ]
    return found + [match.group() for match in _NAMED.finditer(text)]


@cache
def _extensions() -> frozenset[str]:
    return frozenset(_EXTENSIONS.split())


@cache
def _products() -> frozenset[str]:
    return frozenset(_PRODUCTS.split())
