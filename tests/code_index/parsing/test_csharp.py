"""Facts of C# files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

TYPES_WITH_THEIR_MEMBERS_AND_USES = """
/// <summary>File</summary>
using System;
using static System.Math;
using Al = System.Text;
global using X.Y;
namespace Acme.Shop;
/// <summary>An order.</summary>
[Serializable]
public abstract partial class Order<T> : Model<T>, IRun where T : Base {
    public const int Limit = 3;
    private readonly List<Item> _items = new();
    public string Name { get; set; } = "";
    public int Total => items.Sum(i => i.Price);
    public event EventHandler Changed;
    public Order(int a) : base(a) { this._items = null; }
    ~Order() {}
    [Obsolete("x")]
    public override async Task<int> Run(int x) {
        await client.GetAsync<Foo>(x);
            Foo.Bar();
            new Item(1) { A = 2 };
            throw new InvalidOperationException();
        try { } catch (IOException e) { } var q = a?.b?.Call(); int Local(int z) => z;
        if (o is Item it) { var t = typeof(Item);
            var n = nameof(Item);
            } x = (Item)o;
            y = o as Item;
            Changed += Handler;
            arr[0].Go();
            using var s = Open();
    }
    public abstract void F();
    public int this[int i] { get { return i; } }
    public static Order operator +(Order a, Order b) { return a; }
}
enum Color { Red, Green = 2 }
interface IRun : IBase { void Run(); int P { get; } }
struct P { public int x; }
record Point(int X, int Y) : Base(X);
delegate void D(int x);
namespace N { class C {} }
""".removeprefix("\n")

TYPES_WITH_THEIR_MEMBERS_AND_USES_FACTS = """
csharp 41 <summary>File</summary>
0 module Acme.Shop 6-6@6 110:130 in -1
    namespace Acme.Shop
1 class Order 7-35@9 131:1223 in -1 from Model, IRun by Serializable
    public abstract partial class Order<T> : Model<T>, IRun where T : Base
    says An order.
2 constant Limit 10-10@10 256:283 in 1
    public const int Limit
3 field _items 11-11@11 288:331 in 1 hidden
    private readonly List<Item> _items
4 field Name 12-12@12 336:374 in 1
    public string Name
5 field Total 13-13@13 379:423 in 1
    public int Total
6 field Changed 14-14@14 428:462 in 1
    public event EventHandler Changed
7 constructor Order 15-15@15 467:520 in 1
    public Order(int a) : base(a)
8 method ~Order 16-16@16 525:536 in 1 hidden
    ~Order()
9 method Run 17-31@18 541:1075 in 1 by Obsolete("x")
    public override async Task<int> Run(int x)
10 function Local 23-23@23 818:840 in 9
    int Local(int z)
11 signature F 32-32@32 1080:1105 in 1
    public abstract void F()
12 field this 33-33@33 1110:1154 in 1
    public int this[int i]
13 method operator 34-34@34 1159:1221 in 1
    public static Order operator +(Order a, Order b)
14 enum Color 36-36@36 1224:1253 in -1
    enum Color
15 member Red 36-36@36 1237:1240 in 14
    Red
16 member Green 36-36@36 1242:1251 in 14
    Green = 2
17 interface IRun 37-37@37 1254:1307 in -1 from IBase
    interface IRun : IBase
18 signature Run 37-37@37 1279:1290 in 17
    void Run()
19 field P 37-37@37 1291:1305 in 17
    int P
20 struct P 38-38@38 1308:1334 in -1
    struct P
21 field x 38-38@38 1319:1332 in 20
    public int x
22 class Point 39-39@39 1335:1372 in -1 from Base
    record Point(int X, int Y) : Base(X)
23 field X 39-39@39 1348:1353 in 22
    int X
24 field Y 39-39@39 1355:1360 in 22
    int Y
25 type D 40-40@40 1373:1396 in -1
    delegate void D(int x)
26 module N 41-41@41 1397:1423 in -1
    namespace N
27 class C 41-41@41 1411:1421 in 26
    class C
import * from System @2
import * from System.Math @3
import Text from System as Al @4
import * from X.Y @5 exported
decorate Serializable @8:165 in 1
inherit Model @9:220 in 1
inherit IRun @9:230 in 1
type Base @9:245 in 1
type List @11:305 in 1
type Item @11:310 in 1
call items.Sum @13:405 in 5
type EventHandler @14:441 in 1
call base @15:489 in 7
write this._items @15:504 in 7
decorate Obsolete @17:542 in 9
type Task @18:583 in 9
call client.GetAsync @19:627 in 9
type Foo @19:636 in 9
call Foo.Bar @20:661 in 9
new Item @21:684 in 9
write A @21:694 in 9
raise InvalidOperationException @22:725 in 9
new InvalidOperationException @22:725 in 9
catch IOException @23:777 in 9
call a.b.Call @23:810 in 9
read o @24:853 in 9
type Item @24:858 in 9
type Item @24:884 in 9
call nameof @25:911 in 9
read Item @25:918 in 9
type Item @26:944 in 9
read o @26:949 in 9
write y @27:964 in 9
read o @27:968 in 9
type Item @27:973 in 9
write Changed @28:991 in 9
read Handler @28:1002 in 9
read arr @29:1023 in 9
call arr[].Go @29:1030 in 9
call Open @30:1062 in 9
type Order @34:1173 in 13
type Order @34:1190 in 13
type Order @34:1199 in 13
inherit IBase @37:1271 in 17
inherit Base @39:1364 in 22
""".strip("\n")


def test_types_with_their_members_and_uses():
    assert (
        as_text(read_facts(TYPES_WITH_THEIR_MEMBERS_AND_USES.encode(), Language.CSHARP))
        == TYPES_WITH_THEIR_MEMBERS_AND_USES_FACTS
    )
