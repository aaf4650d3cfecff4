"""Definitions within the braces of Rust macros."""

from scrubjay.code_index.models import Language
from tests.code_index.parsing.parsing_helpers import facts_of, symbols_of, uses_of


def test_definitions_in_macros_are_symbols_at_their_positions():
    facts = facts_of(
        """
        cfg_net! {
            /// Talks.
            pub mod tcp;
            cfg_unix! { #[doc(hidden)] pub(crate) fn raw() { bind(); } }
        }
        pin_project_lite::pin_project! {
            pub struct Sleep { #[pin] entry: Timer }
        }
        impl Handle {
            cfg_time! {
                pub fn now(&self) -> Instant { self.clock.now() }
            }
            fn spawn(&self) {}
        }
        fn after() {}
        """,
        Language.RUST,
    )
    assert symbols_of(facts) == [
        "module tcp",
        "function raw",
        "struct Sleep",
        "-field Sleep.entry",
        "impl Handle",
        "method Handle.now",
        "-method Handle.spawn",
        "-function after",
    ]
    assert [(symbol.doc, symbol.line) for symbol in facts.symbols][:2] == [("Talks.", 3), ("", 4)]
    decorated = [symbol.decorators for symbol in facts.symbols]
    assert decorated[0] == ("cfg_net!",)
    assert {*decorated[1]} >= {"cfg_net!", "cfg_unix!"}
    assert decorated[2:4] == [("pin_project_lite::pin_project!",)] * 2
    assert (decorated[4], decorated[5], decorated[7]) == ((), ("cfg_time!",), ())
    assert uses_of(facts)[:4] == [
        "1 : call cfg_net",
        "4 : call cfg_unix",
        "4 raw: call bind",
        "6 : call pin_project_lite.pin_project",
    ]
    assert not facts.problems


def test_a_macro_with_other_content_than_definitions_is_left_alone():
    facts = facts_of(
        """
        cfg_if! { if #[cfg(unix)] { fn a() {} } else { fn b() {} } }
        bitflags! { struct Flags: u32 { const A = 1; } }
        html! { <p>{ fine() }</p> }
        values! { 1 + 2 }
        nothing! {}
        macro_rules! made { ($name:ident) => { fn $name() {} } }
        fn inside() { select! { a = b() => {} } }
        """,
        Language.RUST,
    )
    assert symbols_of(facts) == ["macro made", "-function inside"]
    assert not facts.problems
