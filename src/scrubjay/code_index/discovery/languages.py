"""Detect the language of a file: by its extension, its name, or the program in its first line."""

import re
from collections.abc import Mapping

from scrubjay.code_index.models import Language

_ENDINGS: Mapping[Language, str] = {
    Language.PYTHON: "py pyw pyi bzl",
    Language.TYPESCRIPT: "ts mts cts",
    Language.TSX: "tsx",
    Language.JAVASCRIPT: "js jsx mjs cjs",
    Language.GO: "go",
    Language.RUST: "rs",
    Language.JAVA: "java",
    Language.C: "c h",
    Language.CPP: "cpp cc cxx c++ hpp hh hxx h++ ipp tpp inl cu cuh",
    Language.CSHARP: "cs csx",
    Language.RUBY: "rb rake gemspec ru podspec",
    Language.PHP: "php phtml php5 php7",
    Language.KOTLIN: "kt kts",
    Language.SWIFT: "swift",
    Language.SCALA: "scala sc sbt",
    Language.BASH: "sh bash zsh ksh bats",
    Language.MARKDOWN: "md mdx markdown mdc mkd",
    Language.JSON: "json jsonc json5 webmanifest",
    Language.YAML: "yaml yml",
    Language.SQL: "sql ddl pgsql",
    Language.HTML: "html htm xhtml vue svelte astro",
    Language.CSS: "css",
    Language.TEXT: (
        "txt rst adoc asciidoc org tex bib toml ini cfg conf properties env xml xsd xsl xslt plist proto thrift "
        "graphql gql prisma tf tfvars hcl nix dart lua r jl ex exs erl hrl hs lhs ml mli fs fsi fsx clj cljs cljc "
        "edn pl pm t raku ps1 psm1 bat cmd fish vim el lisp scm rkt zig nim v vhd sv groovy gradle m mm f f90 f95 "
        "pas d cr cmake mk mak awk sed asm s scss sass less styl ejs hbs jinja jinja2 j2 tpl tmpl mustache twig "
        "erb haml slim pug liquid pyx pxd pxi sol vb cob cbl sas do ado csproj vbproj fsproj sln props targets "
        "editorconfig gitignore gitattributes gitmodules dockerignore npmrc nvmrc npmignore prettierignore "
        "eslintignore mailmap in typed snap patch diff feature cypher rego cue jsonnet libsonnet bazel star dot "
        "puml mermaid http rest wat ipynb"
    ),
}
_BY_ENDING = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}

_NAMES: Mapping[Language, str] = {
    Language.PYTHON: "sconstruct sconscript wscript build.bazel workspace.bazel tiltfile",
    Language.RUBY: "rakefile gemfile vagrantfile podfile fastfile brewfile guardfile capfile dangerfile berksfile",
    Language.BASH: ".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .envrc pkgbuild apkbuild",
    Language.JSON: ".babelrc .jshintrc .watchmanconfig composer.lock",
    Language.TEXT: (
        "dockerfile containerfile makefile gnumakefile jenkinsfile procfile justfile caddyfile license licence copying "
        "notice readme authors changelog changes contributing codeowners maintainers install todo unlicense version "
        "license-mit license-apache cname .gitkeep .keep"
    ),
}
_BY_NAME = {name: language for language, names in _NAMES.items() for name in names.split()}

_PROGRAMS = {
    "python": Language.PYTHON,
    "pypy": Language.PYTHON,
    "node": Language.JAVASCRIPT,
    "nodejs": Language.JAVASCRIPT,
    "bun": Language.TYPESCRIPT,
    "deno": Language.TYPESCRIPT,
    "ts-node": Language.TYPESCRIPT,
    "tsx": Language.TYPESCRIPT,
    "ruby": Language.RUBY,
    "php": Language.PHP,
    "sh": Language.BASH,
    "bash": Language.BASH,
    "dash": Language.BASH,
    "ash": Language.BASH,
    "zsh": Language.BASH,
    "ksh": Language.BASH,
    "bats": Language.BASH,
    "scala": Language.SCALA,
    "kotlin": Language.KOTLIN,
    "swift": Language.SWIFT,
}
_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+|\w+=\S*[ \t]+)*(?:\S*/)?)?([\w+-]+)")


def language_by_name(path: str) -> Language | None:
    """Return the language that the file name implies; None when only the content can decide."""
    name = path[path.rfind("/") + 1 :].lower()
    if (language := _BY_NAME.get(name)) is not None:
        return language
    stem, dot, ending = name.rpartition(".")
    if dot and (language := _BY_ENDING.get(ending)) is not None:
        return language
    return _BY_NAME.get(stem.partition(".")[0]) if stem.startswith(("dockerfile", "makefile", "jenkinsfile")) else None


def language_by_content(head: bytes) -> Language:
    """Return the language of the program that the first line names, else text."""
    found = _SHEBANG.match(head.removeprefix(b"\xef\xbb\xbf"))
    if found is None:
        return Language.TEXT
    program = found[1].decode().lower()
    return _PROGRAMS.get(program) or _PROGRAMS.get(program.rstrip("0123456789.-"), Language.TEXT)


def is_header(path: str) -> bool:
    """Return whether the file may be C or C++."""
    return path.endswith((".h", ".H"))
