import pytest

from scrubjay.code_index.graph.name_paths import path_of, type_name


@pytest.mark.parametrize(
    ("written", "name"),
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
def test_a_type_is_named_without_what_wraps_it(written: str, name: str):
    assert type_name(written) == name


@pytest.mark.parametrize(
    ("written", "path"),
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
def test_a_value_is_a_path_when_it_is_nothing_else(written: str, path: str):
    assert path_of(written) == path
