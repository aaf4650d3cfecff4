"""Facts of Scala files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

CLASSES_OBJECTS_TRAITS_AND_GIVENS = """
/** Doc. */
package com.acme.shop
import java.util.List
import com.acme.{Foo, Bar => Baz, _}
import scala.collection.mutable.*
/** An order. */
@deprecated("x")
abstract class Order[T <: Base](val id: Int, n: String) extends Model[T](id) with Runnable with Other {
  val items: List[Item] = Nil
  private var total = 0
  lazy val lz = 1
  def this(a: Int) = this(a, "")
  override def run(): Unit = { items.foreach(_.go().stop(a(0).b)); throw new IllegalStateException("x") }
  def load[R](x: R)(implicit y: Foo): Option[Foo] = { try { Foo.bar() } catch { case e: IOException => log(e) }
      val z = new Item(1)
      x.asInstanceOf[Item]
      this.total = 1
      a map f
      null }
  def f(x: Int): Int
  type Alias = Int
}
object Order { def apply(x: Int) = new Order(x); val LIMIT = 3; case object Red extends Color }
trait Shape extends A with B { def area: Double }
case class Point(x: Int, y: Int)
enum Color(v: Int):
  case Red, Green
  case Blue(x: Int)
given ord: Ordering[Int] with
  def compare(a: Int, b: Int) = 0
extension (s: String)
  def ext(a: Int): Int = a
def top(a: Int) = a
package object pk { }
implicit class Rich(x: Int)
""".removeprefix("\n")

CLASSES_OBJECTS_TRAITS_AND_GIVENS_FACTS = """
scala 35 Doc.
0 module com.acme.shop 1-2@2 0:33 in -1
    package com.acme.shop
    says Doc.
1 class Order 6-22@8 127:730 in -1 from Model, Runnable, Other by deprecated("x")
    abstract class Order[T <: Base](val id: Int, n: String) extends Model[T](id) with Runnable with Other
    says An order.
2 field id 8-8@8 193:204 in 1
    val id: Int
3 field items 9-9@9 267:294 in 1
    val items: List[Item]
4 field total 10-10@10 297:318 in 1 hidden
    private var total
5 field lz 11-11@11 321:336 in 1
    lazy val lz
6 constructor this 12-12@12 339:369 in 1
    def this(a: Int)
7 method run 13-13@13 372:475 in 1
    override def run(): Unit
8 method load 14-19@14 478:688 in 1
    def load[R](x: R)(implicit y: Foo): Option[Foo]
9 signature f 20-20@20 691:709 in 1
    def f(x: Int): Int
10 type Alias 21-21@21 712:728 in 1
    type Alias = Int
11 class Order 23-23@23 731:826 in -1
    object Order
12 method apply 23-23@23 746:778 in 11
    def apply(x: Int)
13 constant LIMIT 23-23@23 780:793 in 11
    val LIMIT
14 class Red 23-23@23 795:824 in 11 from Color
    case object Red extends Color
15 trait Shape 24-24@24 827:876 in -1 from A, B
    trait Shape extends A with B
16 signature area 24-24@24 858:874 in 15
    def area: Double
17 class Point 25-25@25 877:909 in -1
    case class Point(x: Int, y: Int)
18 field x 25-25@25 894:900 in 17
    x: Int
19 field y 25-25@25 902:908 in 17
    y: Int
20 enum Color 26-28@26 910:968 in -1
    enum Color(v: Int)
21 member Red 27-27@27 937:940 in 20
    Red
22 member Green 27-27@27 942:947 in 20
    Green
23 member Blue 28-28@28 955:967 in 20
    Blue(x: Int)
24 variable ord 29-30@29 968:1032 in -1
    given ord: Ordering[Int] with
25 function compare 30-30@30 1000:1031 in 24
    def compare(a: Int, b: Int)
26 function ext 32-32@32 1056:1080 in -1
    def ext(a: Int): Int
27 function top 33-33@33 1081:1100 in -1
    def top(a: Int)
28 module pk 34-34@34 1101:1122 in -1
    package object pk
29 class Rich 35-35@35 1123:1150 in -1
    implicit class Rich(x: Int)
import List from java.util @3
import Foo from com.acme @4
import Bar from com.acme as Baz @4
import * from com.acme @4
import * from scala.collection.mutable @5
decorate deprecated @7:145 in 1
type Base @8:187 in 1
type Int @8:201 in 1
type String @8:209 in 1
inherit Model @8:225 in 1
read id @8:234 in 1
inherit Runnable @8:243 in 1
inherit Other @8:257 in 1
type List @9:278 in 1
type Item @9:283 in 1
read Nil @9:291 in 1
type Int @12:351 in 6
call this @12:358 in 6
type Unit @13:392 in 7
call items.foreach @13:407 in 7
call .go @13:417 in 7
call .go().stop @13:422 in 7
call a @13:427 in 7
read a().b @13:432 in 7
raise IllegalStateException @13:447 in 7
new IllegalStateException @13:447 in 7
type Foo @14:508 in 8
type Option @14:514 in 8
type Foo @14:521 in 8
call Foo.bar @14:540 in 8
catch IOException @14:564 in 8
call log @14:579 in 8
new Item @15:606 in 8
type Item @16:635 in 8
write this.total @17:652 in 8
read a @18:668 in 8
call a.map @18:670 in 8
read f @18:674 in 8
type Int @20:700 in 9
type Int @20:706 in 9
type Int @21:725 in 10
type Int @23:759 in 12
new Order @23:770 in 12
inherit Color @23:819 in 14
inherit A @24:847 in 15
inherit B @24:854 in 15
type Double @24:868 in 16
type Int @25:897 in 17
type Int @25:905 in 17
type Int @26:924 in 20
type Int @28:963 in 23
type Ordering @29:979 in 24
type Int @29:988 in 24
type Int @30:1015 in 25
type Int @30:1023 in 25
type String @31:1046 in -1
type Int @32:1067 in 26
type Int @32:1073 in 26
type Int @33:1092 in 27
type Int @35:1146 in 29
""".strip("\n")


def test_classes_objects_traits_and_givens():
    assert (
        as_text(read_facts(CLASSES_OBJECTS_TRAITS_AND_GIVENS.encode(), Language.SCALA))
        == CLASSES_OBJECTS_TRAITS_AND_GIVENS_FACTS
    )
