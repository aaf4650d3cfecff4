"""Facts of Swift files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

TYPES_EXTENSIONS_AND_FUNCTIONS = """
/// Doc.
import Foundation
import struct UIKit.View
/// An order.
@MainActor
public class Order<T: Base>: Model, Runnable {
    static let limit = 3
    private var items: [Item] = []
    var total: Int { return items.count }
    init(a: Int) { super.init(a); self.items = [] }
    deinit {}
    @discardableResult
    public override func run(x: Int) throws -> Foo? {
        items.forEach { $0.go().stop(a[0].b) }
        do { try Foo.bar() } catch let e as MyError { log(e) } catch MyErr.x { }
        throw MyError.bad(1)
        let y = x as? Item; obj?.call(); let z = Item(a: 1); guard let q = r else { return nil }
        func local() {}
    }
    subscript(i: Int) -> Int { return i }
    enum Color: String, K { case red, green = "x"; case blue(Int); func f() {} }
}
protocol Shape: A { var n: Int { get }; func area() -> Double; associatedtype E; init(x: Int) }
struct Point: Codable { let x: Int; var y = 2 }
extension Order: Other where T: X { func ext() {} }
typealias Fn = (Int) -> String
actor Act { func go() async {} }
func top(_ a: Int) -> Int { a }
let g = 1
var h = { (x: Int) in x + 1 }
infix operator +++
func == (a: A, b: A) -> Bool { true }
""".removeprefix("\n")

TYPES_EXTENSIONS_AND_FUNCTIONS_FACTS = """
swift 32 Doc.
0 class Order 4-22@6 52:777 in -1 from Model, Runnable by MainActor
    public class Order<T: Base>: Model, Runnable
    says An order.
1 field limit 7-7@7 128:148 in 0
    static let limit
2 field items 8-8@8 153:183 in 0 hidden
    private var items: [Item]
3 field total 9-9@9 188:225 in 0
    var total: Int
4 constructor init 10-10@10 230:277 in 0
    init(a: Int)
5 method deinit 11-11@11 282:291 in 0
    deinit
6 method run 12-19@13 296:652 in 0 by discardableResult
    public override func run(x: Int) throws -> Foo?
7 function local 18-18@18 631:646 in 6
    func local()
8 method subscript 20-20@20 657:694 in 0
    subscript(i: Int) -> Int
9 enum Color 21-21@21 699:775 in 0 from String, K
    enum Color: String, K
10 member red 21-21@21 723:731 in 9
    case red, green = "x"
11 member green 21-21@21 733:738 in 9
    case red, green = "x"
12 member blue 21-21@21 746:761 in 9
    case blue(Int)
13 method f 21-21@21 762:773 in 9
    func f()
14 interface Shape 23-23@23 778:873 in -1 from A
    protocol Shape: A
15 field n 23-23@23 798:816 in 14
    var n: Int { get }
16 signature area 23-23@23 818:839 in 14
    func area() -> Double
17 type E 23-23@23 841:857 in 14
    associatedtype E
18 constructor init 23-23@23 859:871 in 14
    init(x: Int)
19 struct Point 24-24@24 874:921 in -1 from Codable
    struct Point: Codable
20 field x 24-24@24 898:908 in 19
    let x: Int
21 field y 24-24@24 910:919 in 19
    var y
22 impl Order 25-25@25 922:973 in -1 from Other
    extension Order: Other where T: X
23 method ext 25-25@25 958:971 in 22
    func ext()
24 type Fn 26-26@26 974:1004 in -1
    typealias Fn = (Int) -> String
25 class Act 27-27@27 1005:1037 in -1
    actor Act
26 method go 27-27@27 1017:1035 in 25
    func go() async
27 function top 28-28@28 1038:1069 in -1
    func top(_ a: Int) -> Int
28 variable g 29-29@29 1070:1079 in -1
    let g
29 function h 30-30@30 1080:1109 in -1
    var h
30 function == 32-32@32 1129:1166 in -1
    func == (a: A, b: A) -> Bool
import * from Foundation @2
import View from UIKit @3
decorate MainActor @5:67 in 0
type Base @6:99 in 0
inherit Model @6:106 in 0
inherit Runnable @6:113 in 0
type Item @8:173 in 0
type Int @9:199 in 0
read items.count @9:218 in 0
type Int @10:238 in 4
call super.init @10:251 in 4
write self.items @10:265 in 4
decorate discardableResult @12:297 in 6
type Int @13:347 in 6
type Foo @13:362 in 6
call items.forEach @14:383 in 6
call $0.go @14:396 in 6
call $0.go().stop @14:401 in 6
call a @14:406 in 6
read a().b @14:411 in 6
call Foo.bar @15:437 in 6
catch MyError @15:460 in 6
call log @15:470 in 6
catch MyErr @15:485 in 6
raise MyError.bad @16:519 in 6
call MyError.bad @16:519 in 6
type Item @17:548 in 6
call obj.call @17:559 in 6
call Item @17:575 in 6
read r @17:601 in 6
type Int @20:670 in 8
type Int @20:678 in 8
inherit String @21:711 in 9
inherit K @21:719 in 9
type Int @21:756 in 9
inherit A @23:794 in 14
type Int @23:805 in 14
type Double @23:833 in 16
type Int @23:867 in 18
inherit Codable @24:888 in 19
type Int @24:905 in 19
inherit Other @25:939 in 22
type X @25:954 in 22
type Int @26:990 in 24
type String @26:998 in 24
type Int @28:1052 in 27
type Int @28:1060 in 27
type Int @30:1094 in 29
type A @32:1141 in 30
type A @32:1147 in 30
type Bool @32:1153 in 30
""".strip("\n")


def test_types_extensions_and_functions():
    assert (
        as_text(read_facts(TYPES_EXTENSIONS_AND_FUNCTIONS.encode(), Language.SWIFT))
        == TYPES_EXTENSIONS_AND_FUNCTIONS_FACTS
    )
