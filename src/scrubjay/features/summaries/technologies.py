"""Detection of technologies in texts: by name, by the language of code blocks, and by file extension."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

# Unambiguous names, matched in any case; other spellings after the colon.
_NAMES = """
    .NET:dotnet; Airflow; Angular; Ansible; Apollo GraphQL; Astro.js; AWS; Azure; Babel.js; Bash; Bootstrap CSS;
    Bun.js; C++; C#; Caddy; Cassandra; Celery; ChromaDB; CircleCI; Clojure; Cloudflare; CMake; Cosmos DB; CSS; CUDA;
    Cypress; Cython; Databricks; dbt; Deno; Django; Docker; Docker Compose; DuckDB; DynamoDB; Elasticsearch; Electron;
    Elixir; Erlang; ESLint; esbuild; FastAPI; FFmpeg; Firebase; Flask; Flutter; FTS5; GCP:Google Cloud; Gemini API;
    Git; GitHub; GitHub Actions; GitLab; Golang; Gradle; Grafana; GraphQL; gRPC; Haskell; Helm; Heroku; Hono; HTML;
    HTMX; Hugging Face; Java; JavaScript; Jenkins; Jest; jQuery; JSON; JUnit; Jupyter; Kafka; Keras; Kotlin;
    Kubernetes:k8s; LangChain; Laravel; Linux; LlamaIndex; LLVM; Lua; macOS; MariaDB; Markdown; Maven;
    MCP:Model Context Protocol; Memcached; MobX; MongoDB; MySQL; Neo4j; Netlify; Next.js; Nginx; Node.js:NodeJS; npm;
    Nuxt; NumPy; OAuth; OCaml; Ollama; OpenAI; OpenAPI; OpenCV; OpenTelemetry; Pandas; Perl; pgvector; PHP; Pinecone;
    Playwright; pnpm; Poetry; PostgreSQL:Postgres; PowerShell; Prisma; Prometheus; Protobuf; Pulumi; Puppeteer;
    Pydantic; PyPI; pyright; pytest; Python; PyTorch; Qdrant; Qt; RabbitMQ; Rails:Ruby on Rails; React Native; Redis;
    Redux; Rollup; RSpec; Sass; Scala; scikit-learn; Selenium; Sentry; Snowflake DB; Solidity; SolidJS; Spring Boot;
    SQL; SQLAlchemy; SQLite; Storybook; Streamlit; Stripe; Supabase; Svelte; SvelteKit; SwiftUI; Tailwind:TailwindCSS;
    Tauri; TensorFlow; Terraform; Three.js; tokio; TOML; tree-sitter; TypeScript; Ubuntu; Unity3D; uvicorn; Vercel;
    Vite; Vitest; vLLM; VS Code; Vue:Vue.js; WebAssembly:Wasm; Webpack; WebSocket:WebSockets; WordPress; YAML; Yarn;
    Zig; Zod
"""
# Names that are also ordinary words: matched only with this capitalisation.
_NAMES_AS_WRITTEN = "Ruby Rust React Swift Express Spring Dart Julia Solr Ember Puma Flink Spark Vault Consul Nomad"
# Languages of code blocks and file extensions.
_SUFFIXES = """
    py:Python python:Python ts:TypeScript typescript:TypeScript tsx:TypeScript js:JavaScript javascript:JavaScript
    jsx:JavaScript mjs:JavaScript go:Go golang:Go rs:Rust rust:Rust java:Java kt:Kotlin kotlin:Kotlin swift:Swift
    rb:Ruby ruby:Ruby php:PHP cs:C# csharp:C# cpp:C++ cc:C++ hpp:C++ c:C h:C scala:Scala clj:Clojure ex:Elixir
    elixir:Elixir exs:Elixir erl:Erlang hs:Haskell haskell:Haskell ml:OCaml lua:Lua r:R jl:Julia dart:Dart zig:Zig
    sh:Bash bash:Bash zsh:Bash shell:Bash ps1:PowerShell sql:SQL html:HTML css:CSS scss:Sass sass:Sass vue:Vue
    svelte:Svelte tf:Terraform hcl:Terraform dockerfile:Docker yaml:YAML yml:YAML toml:TOML json:JSON md:Markdown
    markdown:Markdown ipynb:Jupyter proto:Protobuf graphql:GraphQL gql:GraphQL wasm:WebAssembly sol:Solidity
"""
# Other names of the same technology.
_ALIASES = {"Golang": "Go"}

_FENCE = re.compile(r"(?:```|~~~)[ \t]*([\w+#.-]+)")
PATH = re.compile(r"(?<![\w/.@:-])(?:[\w.@-]+/)*[\w@-][\w.@-]*\.([A-Za-z][A-Za-z0-9]{0,9})(?![\w/(@])")
"""Matches a file path; group 1 is its extension."""


def find_technologies(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the technologies in these texts, most frequent first."""
    counts: Counter[str] = Counter()
    known, suffixes = _known(), _suffixes()
    for text in texts:
        for found in _pattern().finditer(text):
            written = found.group()
            counts[known.get(written) or known[written.casefold()]] += 1
        languages = [suffixes[language] for language in map(str.lower, _FENCE.findall(text)) if language in suffixes]
        rest = _pattern().sub(" ", text)  # "Node.js" is not a file
        files = [suffixes[ending] for ending in map(str.lower, PATH.findall(rest)) if ending in suffixes]
        counts.update(languages)
        counts.update(files)
    merged: Counter[str] = Counter()
    for name, count in counts.items():
        merged[_ALIASES.get(name, name)] += count
    return tuple(sorted(merged, key=lambda name: (-merged[name], name.casefold())))


@cache
def _known() -> dict[str, str]:
    """Map each spelling to its name; spellings that match in any case are in lower case."""
    known: dict[str, str] = {}
    for entry in " ".join(_NAMES.split()).split("; "):
        name, *others = entry.split(":")
        known |= {spelling.casefold(): name for spelling in (name, *others)}
    return known | {name: name for name in _NAMES_AS_WRITTEN.split()}


@cache
def _pattern() -> re.Pattern[str]:
    exact = set(_NAMES_AS_WRITTEN.split())
    longest_first = sorted((spelling for spelling in _known() if spelling not in exact), key=len, reverse=True)
    loose = "|".join(map(re.escape, longest_first))
    # Not within an identifier, an address or a path: the extension of "react/index.js" is enough.
    return re.compile(rf"(?<![\w.@/-])(?:(?i:{loose})|{'|'.join(sorted(exact))})(?!\w|[-/@][A-Za-z]|\.[A-Za-z]|\+\+)")


@cache
def _suffixes() -> dict[str, str]:
    pairs = (pair.partition(":") for pair in _SUFFIXES.split())
    return {suffix: name for suffix, _, name in pairs}
