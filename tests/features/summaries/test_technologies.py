"""Technologies are found where a text names them, and nowhere else."""

import pytest

from scrubjay.features.summaries.technologies import technologies_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We moved from Postgres to SQLite.", ("PostgreSQL", "SQLite")),
        ("python, Python and PYTHON; typescript once", ("Python", "TypeScript")),
        ("Use Node.js and next.js.", ("Next.js", "Node.js")),
        ("C++ is not C#.", ("C#", "C++")),
        ("See src/app/main.py, web/index.tsx and Makefile.", ("Python", "TypeScript")),
        ("```rust\nfn main() {}\n```", ("Rust",)),
        ("The Rust compiler, React and Express.", ("Express", "React", "Rust")),
        ("docker compose up, then docker ps", ("Docker", "Docker Compose")),
        ("golang and main.go", ("Go",)),
        ("k8s", ("Kubernetes",)),
        ("Let's go and react swiftly: express yourself, spark joy, no rust in spring.", ()),
        ("e.g. this, i.e. that, foo.bar(), os.path and version 1.2.3", ()),
        ("https://example.org/react/docker and mygit-tool", ()),
        ("json-rpc is not JSON", ("JSON",)),
        ("", ()),
    ],
)
def test_what_a_text_names(text: str, expected: tuple[str, ...]) -> None:
    assert technologies_in([text]) == expected


def test_what_is_named_most_often_comes_first() -> None:
    assert technologies_in(["Redis, SQL", "SQL in query.sql", "Redis? SQL."]) == ("SQL", "Redis")
