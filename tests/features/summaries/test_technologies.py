"""Detection of the technologies that a text names."""

import pytest

from scrubjay.features.summaries.technologies import find_technologies


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
def test_technologies_are_found_by_name_file_extension_and_code_block(text: str, expected: tuple[str, ...]) -> None:
    assert find_technologies([text]) == expected


def test_the_most_frequent_technology_comes_first() -> None:
    assert find_technologies(["Redis, SQL", "SQL in query.sql", "Redis? SQL."]) == ("SQL", "Redis")
