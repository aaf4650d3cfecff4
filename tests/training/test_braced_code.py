"""Documented declarations are found in Go, Rust and JavaScript."""

from textwrap import dedent

import pytest

from models.braced_code import read_go, read_javascript, read_rust, read_type_declarations
from models.pairs import DescribedCode


def test_a_go_function_comes_with_the_comment_above_it():
    source = dedent("""
        // Close closes every open connection.
        //nolint:errcheck
        func (p *Pool) Close() error {
        \tfor _, c := range p.open {
        \t\tc.Close()
        \t}
        \treturn nil
        }

        func bare() {
        }
    """)
    text = "Close closes every open connection."
    code = "func (p *Pool) Close() error {\n\tfor _, c := range p.open {\n\t\tc.Close()\n\t}\n\treturn nil\n}"

    assert list(read_go(source)) == [DescribedCode("Close", "function", text, text, code)]


def test_a_rust_comment_is_found_above_attributes_and_loses_links_and_examples():
    source = dedent("""
        impl Pool {
            /// Closes every [`Connection`](crate::Connection).
            /// ```
            /// pool.close();
            /// ```
            #[inline]
            pub async fn close(&self) {
                self.open.clear();
            }
        }
    """)

    (found,) = read_rust(source)

    assert (found.name, found.kind, found.lead.strip()) == ("close", "function", "Closes every `Connection`.")
    assert found.code == "    pub async fn close(&self) {\n        self.open.clear();\n    }"


def test_the_javascript_description_is_the_text_before_the_tags_or_a_description_tag():
    source = dedent("""
        /**
         * Close every {@link Connection}.
         * @returns {void}
         */
        export async function close(pool) {
          pool.clear()
        }

        /** @description Open one more connection. */
        Pool.prototype.open = function () {
          return this.add()
        }

        /**
         * Not above a declaration.
         */
        if (pool) {
        }
    """)

    assert [(found.name, found.lead, found.code) for found in read_javascript(source)] == [
        ("close", "Close every Connection.", "export async function close(pool) {\n  pool.clear()\n}"),
        ("open", "Open one more connection.", "Pool.prototype.open = function () {\n  return this.add()\n}"),
    ]


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        ("export default class Pool extends Base {", "Pool", "type"),
        ("  abstract class Pool {", "Pool", "type"),
        ("function* drain(pool) {", "drain", "function"),
        ("export const drain: Drain<Pool> = async (pool) => {", "drain", "function"),
        ("var drain = pool => {", "drain", "function"),
        ("exports.drain = function (pool) {", "drain", "function"),
        ("  drain: async function (pool) {", "drain", "function"),
        ("  private static async drain<T>(pool: T) {", "drain", "function"),
        ("  get size() {", "size", "function"),
        ("  get(key) {", "get", "function"),
        ("  async *drain() {", "drain", "function"),
        ("  #drain() {", "#drain", "function"),
    ],
)
def test_javascript_declaration_forms_are_recognized(line: str, name: str, kind: str):
    indent = " " * (len(line) - len(line.lstrip()))
    source = f"{indent}/** Lets every connection go. */\n{line}\n{indent}  done()\n{indent}}}\n"

    assert [(found.name, found.kind) for found in read_javascript(source)] == [(name, kind)]


@pytest.mark.parametrize(
    "line", ["if (pool) {", "return drain(() => {", "const size = {", "pool.size === (function () {", "} else {"]
)
def test_javascript_statements_that_declare_no_function_are_skipped(line: str):
    assert list(read_javascript(f"/** Lets every connection go. */\n{line}\n}}\n")) == []


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        ("pub(crate) async unsafe fn drain(&self) {", "drain", "function"),
        ('pub extern "C" fn drain() {', "drain", "function"),
        ("pub struct Pool<T> {", "Pool", "type"),
        ("trait Drain {", "Drain", "type"),
    ],
)
def test_rust_declarations_with_modifiers_are_recognized(line: str, name: str, kind: str):
    assert [(found.name, found.kind) for found in read_rust(f"/// Lets go.\n{line}\n}}\n")] == [(name, kind)]


@pytest.mark.parametrize(
    "line", ["// trait objects {", "let f = fn_of(x) {", "type Drain = fn(Pool) -> Pool {", "impl Drain for Pool {"]
)
def test_rust_lines_that_only_mention_a_keyword_are_skipped(line: str):
    assert list(read_rust(f"/// Lets go.\n{line}\n}}\n")) == []


def test_a_declaration_without_a_closing_brace_in_its_column_is_skipped():
    inside = "  /** Lets every connection go. */\n  drain() {\n    done()\n}\n"
    plain = "/* Lets every connection go. */\nfunction drain() {\n}\n"

    assert list(read_javascript(inside)) == []
    assert list(read_javascript(plain)) == []


def test_a_type_declaration_has_no_body():
    source = "/** Close every connection. */\nexport declare function close(\n  pool: Pool,\n): void;\nexport {};\n"

    (found,) = read_type_declarations(source)

    assert found.code == "export declare function close(\n  pool: Pool,\n): void;"
