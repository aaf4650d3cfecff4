"""Which technologies a text is about: those that it names, those of its code, and those of its files."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

# Names that mean nothing else, however they are written; other spellings after the colon.
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
# Names that are words too: they count only as they are written here.
_NAMES_AS_WRITTEN = "Ruby Rust React Swift Express Spring Dart Julia Solr Ember Puma Flink Spark Vault Consul Nomad"
# What a fence of code calls its language, and what files end with.
_SUFFIXES = """
    py:Python python:Python ts:TypeScript typescript:TypeScript tsx:TypeScript js:JavaScript javascript:JavaScript
    jsx:JavaScript mjs:JavaScript go:Go golang:Go rs:Rust rust:Rust java:Java kt:Kotlin kotlin:Kotlin swift:Swift
    rb:Ruby ruby:Ruby php:PHP cs:C# csharp:C# cpp:C++ cc:C++ hpp:C++ c:C h:C scala:Scala clj:Clojure ex:Elixir
    elixir:Elixir exs:Elixir erl:Erlang hs:Haskell haskell:Haskell ml:OCaml lua:Lua r:R jl:Julia dart:Dart zig:Zig
    sh:Bash bash:Bash zsh:Bash shell:Bash ps1:PowerShell sql:SQL html:HTML css:CSS scss:Sass sass:Sass vue:Vue
    svelte:Svelte tf:Terraform hcl:Terraform dockerfile:Docker yaml:YAML yml:YAML toml:TOML json:JSON md:Markdown
    markdown:Markdown ipynb:Jupyter proto:Protobuf graphql:GraphQL gql:GraphQL wasm:WebAssembly sol:Solidity
"""
# The same technology under a longer or an older name.
_SAME = {"Golang": "Go"}

_FENCE = re.compile(r"(?:```|~~~)[ \t]*([\w+#.-]+)")
PATH = re.compile(r"(?<![\w/.@:-])(?:[\w.@-]+/)*[\w@-][\w.@-]*\.([A-Za-z][A-Za-z0-9]{0,9})(?![\w/(@])")
"""A file, with its ending."""


def technologies_in(texts: Iterable[str]) -> tuple[str, ...]:
    """What these texts are about, what is named most often first."""
    counts: Counter[str] = Counter()
    known, suffixes = _known(), _suffixes()
    for text in texts:
        for found in _pattern().finditer(text):
            written = found.group()
            counts[known.get(written) or known[written.casefold()]] += 1
        languages = [suffixes[language] for language in map(str.lower, _FENCE.findall(text)) if language in suffixes]
        rest = _pattern().sub(" ", text)  # "node.js" is no file
        files = [suffixes[ending] for ending in map(str.lower, PATH.findall(rest)) if ending in suffixes]
        counts.update(languages)
        counts.update(files)
    merged: Counter[str] = Counter()
    for name, count in counts.items():
        merged[_SAME.get(name, name)] += count
    return tuple(sorted(merged, key=lambda name: (-merged[name], name.casefold())))


@cache
def _known() -> dict[str, str]:
    """Each spelling and the name that it means; those of any case in lower case."""
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
    # Not within an identifier, an address or a path: "react/index" says nothing that its ending does not say.
    return re.compile(rf"(?<![\w.@/-])(?:(?i:{loose})|{'|'.join(sorted(exact))})(?!\w|[-/@][A-Za-z]|\.[A-Za-z]|\+\+)")


@cache
def _suffixes() -> dict[str, str]:
    pairs = (pair.partition(":") for pair in _SUFFIXES.split())
    return {suffix: name for suffix, _, name in pairs}
