"""Facts of JavaScript and TypeScript files."""

import pytest

from scrubjay.code_index.models import Import, Language, Problem
from tests.code_index.parsing.parsing_helpers import facts_of, symbols_of, uses_of

JAVASCRIPT, TYPESCRIPT, TSX = Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX


def test_definitions_of_javascript_are_symbols():
    facts = facts_of(
        """
        /** Adds.
         * @returns the sum */
        export function add(a, b) { function inner() {} const local = 1; }
        export const twice = (x) => x * 2, LIMIT = 3;
        let { one, two: [uno] } = source;
        export const tools = { cut() {}, glue: function () {}, fold: () => 1, size: 3 };
        class Box extends Base {
          #count = 1;
          open = () => { this.inner = 1; };
          constructor() { this.lid = 1; this.lid = 2; }
          static get size() { return 1; }
        }
        Box.prototype.close = function () {};
        run(function named() {});
        export default class extends Box {}
        """,
        JAVASCRIPT,
    )
    assert symbols_of(facts) == [
        "function add",
        "-function add.inner",
        "function twice",
        "constant LIMIT",
        "-variable one",
        "-variable uno",
        "constant tools",
        "method tools.cut",
        "method tools.glue",
        "method tools.fold",
        "-class Box",
        "-field Box.#count",
        "method Box.open",
        "field Box.inner",
        "constructor Box.constructor",
        "field Box.lid",
        "method Box.size",
        "-method close",
        "-function named",
        "class default",
    ]
    add, *_ = facts.symbols
    assert (add.doc, add.signature, add.span.first_line, add.line) == (
        "Adds.\n@returns the sum",
        "export function add(a, b)",
        1,
        3,
    )
    assert [symbol.owner for symbol in facts.symbols if symbol.owner] == ["Box"]
    assert facts.exports == [("default", "default")]


def test_definitions_of_typescript_are_symbols():
    facts = facts_of(
        """
        export interface Shape<T> extends Base, geo.Thing<T> { readonly name: string; draw(on: Canvas): Out<T>; }
        export type Either<A> = A | Wrapped<A>;
        enum Colour { Red = 1, "Green" }
        declare module "lib" { export function f(): void; }
        namespace A.B { export const x = 1; }
        declare function outside(a: string): void;
        abstract class Abs implements Shape<number> {
          @logged() private size?: Size;
          constructor(private readonly store: Store) { super(); }
          protected abstract area(): number;
          @hook("x") run(): void {}
        }
        """,
        TYPESCRIPT,
    )
    assert symbols_of(facts) == [
        "interface Shape",
        "field Shape.name",
        "signature Shape.draw",
        "type Either",
        "-enum Colour",
        "member Colour.Red",
        "member Colour.Green",
        "-module lib",
        "signature lib.f",
        "-module A.B",
        "constant A.B.x",
        "-signature outside",
        "-class Abs",
        "-field Abs.size",
        "constructor Abs.constructor",
        "-field Abs.store",
        "-signature Abs.area",
        "method Abs.run",
    ]
    shape, run = facts.symbols[0], facts.symbols[-1]
    assert (shape.bases, run.decorators) == (("Base", "geo.Thing<T>"), ('hook("x")',))
    assert uses_of(facts) == [
        "1 Shape: inherit Base",
        "1 Shape: inherit geo.Thing",
        "1 draw: type Canvas",
        "1 draw: type Out",
        "2 Either: type Wrapped",
        "7 Abs: inherit Shape",
        "8 size: decorate logged",
        "8 Abs: call logged",
        "8 Abs: type Size",
        "9 constructor: type Store",
        "9 constructor: call super",
        "11 run: decorate hook",
        "11 Abs: call hook",
    ]


@pytest.mark.parametrize("language", [JAVASCRIPT, TYPESCRIPT])
def test_a_module_re_exported_as_the_default_is_an_import(language: Language):
    facts = facts_of("export * as default from './x';\n", language)
    assert (facts.problems, facts.imports) == ([], [Import("./x", alias="default", line=1, exported=True)])


def test_every_form_of_import_and_export_is_read():
    facts = facts_of(
        """
        import main, { a as b, type C } from './x';
        import * as ns from "y";
        import 'effect';
        import fs = require("fs");
        export { a as b, default as q } from './x';
        export * from './y';
        export * as z from './z';
        export type * from './types';
        export { here as there, plain };
        const { u, v: w } = require('./req'), k = require("k").sub, whole = require('whole');
        import("./later").then(run);
        const { x } = await import("./soon");
        export default main;
        """,
        TYPESCRIPT,
    )
    assert facts.problems == []
    assert facts.imports == [
        Import("./x", "default", "main", 1),
        Import("./x", "a", "b", 1),
        Import("./x", "C", line=1),
        Import("y", alias="ns", line=2),
        Import("effect", line=3),
        Import("fs", alias="fs", line=4),
        Import("./x", "a", "b", 5, exported=True),
        Import("./x", "default", "q", 5, exported=True),
        Import("./y", "*", line=6, exported=True),
        Import("./z", alias="z", line=7, exported=True),
        Import("./types", "*", line=8, exported=True),
        Import("./req", "u", line=10),
        Import("./req", "v", "w", 10),
        Import("k", "sub", "k", 10),
        Import("whole", alias="whole", line=10),
        Import("./later", line=11),
        Import("./soon", "x", line=12),
    ]
    assert facts.exports == [("there", "here"), ("plain", "plain"), ("default", "main")]


def test_commonjs_exports_are_read():
    facts = facts_of(
        """
        module.exports = { f, g: h, m() {} };
        exports.foo = function () {};
        module.exports.bar = () => 1;
        exports.baz = qux;
        function f() {}
        function own() {}
        """,
        JAVASCRIPT,
    )
    assert facts.exports == [("f", "f"), ("g", "h"), ("m", "m"), ("foo", "foo"), ("bar", "bar"), ("baz", "qux")]
    assert symbols_of(facts) == ["method m", "function foo", "function bar", "function f", "-function own"]


def test_uses_have_paths_and_local_variables_are_not_uses():
    facts = facts_of(
        """
        function f(a, { b, c: d = OUT }, ...rest) {
          const e = new ns.Thing(1).go?.(a!, outer)`${tag}`;
          for (const g of rest) { g.x = count++; }
          try { throw new Lost("x") } catch (h) { if (h instanceof TypeError) throw h; }
          return <Box.Lid on={() => go(e)}><div/></Box.Lid>;
        }
        let y = a[0].b() as Foo;
        """,
        TSX,
    )
    assert uses_of(facts) == [
        "1 f: read OUT",
        "2 f: new ns.Thing",
        "2 f: call ns.Thing().go()",
        "2 f: call ns.Thing().go",
        "2 f: read outer",
        "2 f: read tag",
        "3 f: write g.x",
        "3 f: read count",
        "4 f: new Lost",
        "4 f: raise Lost",
        "4 f: catch TypeError",
        "5 f: call Box.Lid",
        "5 f: call go",
        "7 : read a",
        "7 : call a[].b",
        "7 : type Foo",
    ]


def test_a_definition_in_parentheses_or_with_a_type_assertion_is_found():
    facts = facts_of(
        """
        export const load = (async () => fetchAll()) as Loader;
        export const plugin = { install(app) {}, stop: () => {} } satisfies Plugin;
        export const Box = (class { open() {} });
        export const total = (a + b) as Money;
        """,
        TYPESCRIPT,
    )
    assert symbols_of(facts) == [
        "function load",
        "constant plugin",
        "method plugin.install",
        "method plugin.stop",
        "class Box",
        "method Box.open",
        "constant total",
    ]
    assert facts.symbols[1].signature == "export const plugin"
    assert [use for use in uses_of(facts) if "type" in use or "call" in use] == [
        "1 load: call fetchAll",
        "1 : type Loader",
        "2 : type Plugin",
        "4 : type Money",
    ]


LICENSED = "/**\n * Copyright (c) Somebody.\n * MIT license.\n */\n"


@pytest.mark.parametrize(
    ("source", "doc"),
    [
        ("// Keeps carts.\nimport a from 'a';\n", "Keeps carts."),
        (f"{LICENSED}import a from 'a';\n", ""),
        (f"{LICENSED}\n// Keeps carts.\nimport a from 'a';\n", "Keeps carts."),
        ("// SPDX-License-Identifier: MIT\n\nexport const a = 1;\n", ""),
    ],
)
def test_a_license_is_not_the_documentation_of_a_file(source: str, doc: str):
    assert facts_of(source, TYPESCRIPT).doc == doc


def test_everything_at_the_top_level_of_a_script_is_exported():
    assert symbols_of(facts_of("function f() {} var x = 1;", JAVASCRIPT)) == ["function f", "variable x"]


def test_variance_annotations_are_read_although_the_grammar_lacks_them():
    facts = facts_of("interface Box<in out T, out U = T> { get(): U }\n", TYPESCRIPT)
    assert (symbols_of(facts), facts.problems) == (["interface Box", "signature Box.get"], [])
    assert facts.symbols[0].signature == "interface Box<in out T, out U = T>"


def test_broken_javascript_is_reported():
    assert facts_of("function ok() {}\nlet = ;\n", JAVASCRIPT).problems == [Problem(2, "this cannot be read")]
