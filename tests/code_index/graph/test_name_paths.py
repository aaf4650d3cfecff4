"""Names of types and paths of names are parsed from source text."""

import pytest

from scrubjay.code_index.graph.name_paths import parse_name_path, parse_type_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("*Foo", "Foo"),
        ("&'a mut Foo", "Foo"),
        ("Arc<Mutex<Foo>>", "Foo"),
        ("Vec<Foo>", "Foo[]"),
        ("HashMap<String, a::Foo>", "a.Foo[]"),
        ("map[string]*Foo", "Foo[]"),
        ("[]Foo", "Foo[]"),
        ("Foo[]", "Foo[]"),
        ("std::unique_ptr<Foo>", "Foo"),
        ("Foo<T>", "Foo"),
        ("Box<dyn Foo>", "Foo"),
        ("Foo?", "Foo"),
        ("fn(u8) -> u8", ""),
        ("var", ""),
        ("", ""),
    ],
)
def test_a_type_is_named_without_its_wrappers(text: str, name: str):
    assert parse_type_name(text) == name


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("&Foo{A: 1}", "Foo{}"),
        ("new Foo(1).bar[0]", "Foo{}.bar[]"),
        ("Foo::<T>::new(a, b)?", "Foo.new()"),
        ("await load(x).y", "load().y"),
        ("$this->lock", "this.lock"),
        ("a + b", ""),
        ("1.max(2) * 3", ""),
        ("", ""),
    ],
)
def test_only_a_chain_of_names_calls_and_indexes_is_a_path(text: str, path: str):
    assert parse_name_path(text) == path
