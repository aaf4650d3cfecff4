"""Facts of Rust files."""

from scrubjay.code_index.models import Import, Language
from tests.code_index.parsing.parsing_helpers import facts_of, symbols_of, uses_of


def test_definitions_of_rust_are_symbols():
    facts = facts_of(
        """
        //! Draws.
        pub mod inner { pub fn f() {} }
        mod outside;
        /// A point.
        #[derive(Debug, fmt::Clone)]
        pub struct Point<T: Num> { pub x: T, y: f64 }
        pub enum Shape { Circle(Point), Rect { w: u8 } }
        pub trait Area: Base + Other { const K: u8; type Out; fn area(&self) -> f64; fn d(&self) {} }
        impl<T> Area for geo::Point<T> { fn area(&self) -> f64 { 1.0 } }
        type Alias = Result<u8, MyErr>;
        pub const MAX: usize = 3;
        static COUNT: u8 = 0;
        macro_rules! my { ($x:expr) => { call($x) } }
        #[tokio::test]
        async fn run() { let closure = |i: u8| i; }
        """,
        Language.RUST,
    )
    assert facts.doc == "Draws."
    assert symbols_of(facts) == [
        "module inner",
        "function inner.f",
        "-module outside",
        "struct Point",
        "field Point.x",
        "-field Point.y",
        "enum Shape",
        "member Shape.Circle",
        "member Shape.Rect",
        "-field Shape.Rect.w",
        "trait Area",
        "constant Area.K",
        "type Area.Out",
        "signature Area.area",
        "method Area.d",
        "impl Point",
        "method Point.area",
        "-type Alias",
        "constant MAX",
        "-variable COUNT",
        "macro my",
        "-function run",
        "-function run.closure",
    ]
    by_name = {symbol.name: symbol for symbol in reversed(facts.symbols)}
    point = by_name["Point"]
    assert (point.doc, point.decorators, point.span.first_line, point.line) == (
        "A point.",
        ("derive(Debug, fmt::Clone)",),
        4,
        6,
    )
    assert (by_name["Area"].bases, facts.symbols[15].bases) == (("Base", "Other"), ("Area",))
    assert by_name["run"].signature == "async fn run()"
    assert uses_of(facts) == [
        "5 Point: decorate Debug",
        "5 Point: decorate fmt.Clone",
        "6 Point: type Num",
        "7 Circle: type Point",
        "8 Area: inherit Base",
        "8 Area: inherit Other",
        "9 Point: inherit Area",
        "9 Point: type geo.Point",
        "10 Alias: type Result",
        "10 Alias: type MyErr",
        "13 my: call call",
        "14 run: decorate tokio.test",
    ]


def test_every_form_of_use_is_read():
    facts = facts_of(
        """
        use std::collections::{HashMap, hash_map::Entry as E, self};
        use crate::db::*;
        pub use super::x as y;
        use plain;
        extern crate serde as sd;
        pub mod tests;
        fn f() { use late::Thing; }
        """,
        Language.RUST,
    )
    assert facts.imports == [
        Import("std::collections", "HashMap", line=1),
        Import("std::collections::hash_map", "Entry", "E", 1),
        Import("std::collections", line=1),
        Import("crate::db", "*", line=2),
        Import("super", "x", "y", 3, exported=True),
        Import("plain", line=4),
        Import("serde", alias="sd", line=5),
        Import("self::tests", line=6, exported=True),
        Import("late", "Thing", line=7, container=1),
    ]


def test_uses_of_rust_have_paths_and_local_variables_are_not_uses():
    facts = facts_of(
        """
        fn run<F>(p: &Point<F>, q: u8) -> Out {
            let Point { x, y: z } = p;
            vec![bar(q), baz.qux(), name, crate::deep::make!(x)];
            if let Some(v) = opt { Point::<u8>::new(v, z).go().await?; }
            match s { Err(Lost::Here) => p.x = MAX, Shape::Rect { w } if w > q => 1, _ => Err(Lost::Gone.into()) }
            crate::util::help::<Kind>(x);
            let t = Foo { a: q, ..other };
            COUNT += 1;
            self.f.g() + <T as Trait>::call() + arr[0].m()
        }
        """,
        Language.RUST,
    )
    assert uses_of(facts) == [
        "1 run: type Point",
        "1 run: type Out",
        "2 run: read Point",
        "3 run: call vec",
        "3 run: call bar",
        "3 run: call baz.qux",
        "3 run: read name",
        "3 run: call crate.deep.make",
        "4 run: read Some",
        "4 run: read opt",
        "4 run: type Point",
        "4 run: call Point.new",
        "4 run: call Point.new().go",
        "5 run: read s",
        "5 run: catch Lost.Here",
        "5 run: write p.x",
        "5 run: read MAX",
        "5 run: read Shape.Rect",
        "5 run: call Err",
        "5 run: call Lost.Gone.into",
        "5 run: raise Lost.Gone",
        "6 run: call crate.util.help",
        "6 run: type Kind",
        "7 run: new Foo",
        "7 run: read other",
        "8 run: write COUNT",
        "9 run: call self.f.g",
        "9 run: type T",
        "9 run: type Trait",
        "9 run: call T.call",
        "9 run: read arr",
        "9 run: call arr[].m",
    ]
