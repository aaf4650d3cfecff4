"""Facts of Go files."""

from scrubjay.code_index.models import Import, Language
from tests.code_index.parsing.parsing_helpers import facts_of, symbols_of, uses_of


def test_definitions_imports_and_documentation_of_go_are_read():
    facts = facts_of(
        """
        // Package shop sells.
        package shop

        import (
            "fmt"
            m "math/rand"
            . "strings"
        )
        import _ "embed"

        const (
            // Limit is the most.
            Limit = 3
            other = iota
        )
        var shared, Two = 1, 2
        // Server serves.
        type Server struct {
            // Name is shown.
            Name string
            *http.Client
        }
        type Handler interface {
            Handle(x Thing) error
            io.Reader
        }
        type ID = string
        type List[T any] []T
        // Run runs.
        func (s *Server) Run() { inner := func() {} }
        func (l List[T]) len() int { return 0 }
        var handle = func() {}
        """,
        Language.GO,
    )
    assert facts.doc == "Package shop sells."
    assert symbols_of(facts) == [
        "constant Limit",
        "-constant other",
        "-variable shared",
        "variable Two",
        "struct Server",
        "field Server.Name",
        "field Server.Client",
        "interface Handler",
        "signature Handler.Handle",
        "type ID",
        "type List",
        "method Run",
        "-function Run.inner",
        "-method len",
        "-function handle",
    ]
    by_name = {symbol.name: symbol for symbol in facts.symbols}
    assert [by_name[name].doc for name in ("Limit", "Server", "Name", "Run")] == [
        "Limit is the most.",
        "Server serves.",
        "Name is shown.",
        "Run runs.",
    ]
    assert (by_name["Run"].owner, by_name["Run"].signature, by_name["len"].owner) == (
        "Server",
        "func (s *Server) Run()",
        "List",
    )
    assert (by_name["Server"].bases, by_name["Handler"].bases) == (("http.Client",), ("io.Reader",))
    assert facts.imports == [
        Import("fmt", line=5),
        Import("math/rand", alias="m", line=6),
        Import("strings", "*", line=7),
        Import("embed", alias="_", line=9),
    ]


def test_uses_of_go_have_paths_and_local_variables_are_not_uses():
    facts = facts_of(
        """
        package p
        func f[T Number](a T, opts ...Option) (err error) {
            x := Foo{Field: bar}
            var z Kind = conv(x)
            for i, v := range items { fmt.Println(i, v, a.Name, z) }
            go func(b int) { work(b) }(3)
            x.inner.size = 4
            shared = 1
            switch t := x.(type) { case *MyErr: use(t) }
            if errors.Is(err, ErrGone) { panic(NewErr("x")) }
            return make().run(new(Thing))
        }
        """,
        Language.GO,
    )
    assert uses_of(facts) == [
        "2 f: type Number",
        "2 f: type Option",
        "3 f: new Foo",
        "3 f: read bar",
        "4 f: type Kind",
        "4 f: call conv",
        "5 f: read items",
        "5 f: call fmt.Println",
        "6 f: call work",
        "7 f: write x.inner.size",
        "8 f: write shared",
        "9 f: type MyErr",
        "9 f: call use",
        "10 f: call errors.Is",
        "10 f: catch ErrGone",
        "10 f: read ErrGone",
        "10 f: call panic",
        "10 f: call NewErr",
        "10 f: raise NewErr",
        "11 f: call make",
        "11 f: call make().run",
        "11 f: new Thing",
        "11 f: type Thing",
    ]


def test_members_of_a_receiver_are_used_by_a_go_method():
    facts = facts_of("package p\nfunc (s *S) f(o *S) int { return s.size + o.size }\n", Language.GO)
    assert uses_of(facts) == ["2 f: type S", "2 f: type S", "2 f: read s.size"]
