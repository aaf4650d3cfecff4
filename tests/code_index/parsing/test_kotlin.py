"""Facts of Kotlin files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

CLASSES_OBJECTS_AND_FUNCTIONS = """
/** Doc. */
@file:JvmName("X")
package com.acme.shop

import java.util.List
import com.acme.Foo as Bar
import com.acme.*

/** An order. */
@Entity("x")
abstract class Order<T : Base>(val id: Int, private var n: String = "") : Model<T>(id), Runnable, Other {
    companion object { const val LIMIT = 3; fun make() = Order(1) }
    private val items: List<Item> = listOf()
    var total: Int = 0
        get() = field
    init { setup() }
    constructor(a: Int, b: Int) : this(a) { go() }
    override fun run() { items.forEach { it.go().stop(a[0].b) }; throw IllegalStateException("x") }
    suspend fun <R> load(x: R?): Foo? { try { Foo.bar() } catch (e: IOException) { log(e) }
        val y = x as Item
        if (y is Item) {}
        this.total = 1
        obj?.call()
        val f = ::run
        return null }
    abstract fun f(x: Int): Int
    enum class Color(val v: Int) : K { RED(1), GREEN(2); fun z() {} }
    inner class I
}
interface Shape : A { val n: Int; fun area(): Double }
data class Point(val x: Int, val y: Int)
object Single : Base() { fun f() {} }
typealias Fn = (Int) -> String
fun String.ext(a: Int): Int = a
val top = 1
const val TOP = 2
sealed interface S
fun interface Q { fun q() }
val lam = { x: Int -> x + 1 }
annotation class Ann
fun g(xs: List<Int>) { for (x in xs) { println(x) }
    when (val q = xs) { is Foo -> 1
    else -> 2 }
    xs.map { a, b -> a + b + top }
    val (p, r) = pair
    object : Shape { override fun area() = 1.0 }
    x.y = 3
    Foo<Bar>(1)
    a!!.b()
    super.run() }

fun <T> List<T>.second(): T = this[1]
""".removeprefix("\n")

CLASSES_OBJECTS_AND_FUNCTIONS_FACTS = """
kotlin 52 Doc.
0 module com.acme.shop 3-3@3 31:52 in -1
    package com.acme.shop
1 class Order 9-29@11 122:940 in -1 from Model, Runnable, Other by Entity("x")
    abstract class Order<T : Base>(val id: Int, private var n: String = "") : Model<T>(id), Runnable, Other
    says An order.
2 field id 11-11@11 183:194 in 1
    val id: Int
3 field n 11-11@11 196:222 in 1 hidden
    private var n: String = ""
4 class Companion 12-12@12 262:325 in 1
    companion object
5 constant LIMIT 12-12@12 281:300 in 4
    const val LIMIT
6 method make 12-12@12 302:323 in 4
    fun make()
7 field items 13-13@13 330:370 in 1 hidden
    private val items: List<Item>
8 field total 14-15@14 375:415 in 1
    var total: Int
9 constructor constructor 17-17@17 441:487 in 1
    constructor(a: Int, b: Int) : this(a)
10 method run 18-18@18 492:587 in 1
    override fun run()
11 method load 19-25@19 592:818 in 1
    suspend fun <R> load(x: R?): Foo?
12 signature f 26-26@26 823:850 in 1
    abstract fun f(x: Int): Int
13 enum Color 27-27@27 855:920 in 1 from K
    enum class Color(val v: Int) : K
14 field v 27-27@27 872:882 in 13
    val v: Int
15 member RED 27-27@27 890:896 in 13
    RED(1)
16 member GREEN 27-27@27 898:906 in 13
    GREEN(2)
17 method z 27-27@27 908:918 in 13
    fun z()
18 class I 28-28@28 925:938 in 1
    inner class I
19 interface Shape 30-30@30 941:995 in -1 from A
    interface Shape : A
20 field n 30-30@30 963:973 in 19
    val n: Int
21 signature area 30-30@30 975:993 in 19
    fun area(): Double
22 class Point 31-31@31 996:1036 in -1
    data class Point(val x: Int, val y: Int)
23 field x 31-31@31 1013:1023 in 22
    val x: Int
24 field y 31-31@31 1025:1035 in 22
    val y: Int
25 class Single 32-32@32 1037:1074 in -1 from Base
    object Single : Base()
26 method f 32-32@32 1062:1072 in 25
    fun f()
27 type Fn 33-33@33 1075:1105 in -1
    typealias Fn = (Int) -> String
28 function ext 34-34@34 1106:1137 in -1 of String
    fun String.ext(a: Int): Int
29 variable top 35-35@35 1138:1149 in -1
    val top
30 constant TOP 36-36@36 1150:1167 in -1
    const val TOP
31 interface S 37-37@37 1168:1186 in -1
    sealed interface S
32 interface Q 38-38@38 1187:1214 in -1
    fun interface Q
33 signature q 38-38@38 1205:1212 in 32
    fun q()
34 function lam 39-39@39 1215:1244 in -1
    val lam
35 class Ann 40-40@40 1245:1265 in -1
    annotation class Ann
36 function g 41-50@41 1266:1533 in -1
    fun g(xs: List<Int>)
37 function area 46-46@46 1448:1473 in 36
    override fun area()
38 function second 52-52@52 1535:1572 in -1 of List
    fun <T> List<T>.second(): T
import List from java.util @5
import Foo from com.acme as Bar @6
import * from com.acme @7
decorate Entity @10:140 in 1
type Base @11:177 in 1
type Int @11:191 in 1
type String @11:211 in 1
inherit Model @11:226 in 1
read id @11:235 in 1
inherit Runnable @11:240 in 1
inherit Other @11:250 in 1
call Order @12:315 in 6
type List @13:349 in 1
type Item @13:354 in 1
call listOf @13:362 in 1
type Int @14:386 in 1
call setup @16:427 in 1
type Int @17:456 in 9
type Int @17:464 in 9
call this @17:471 in 9
call go @17:481 in 9
call items.forEach @18:519 in 10
call it.go @18:532 in 10
call it.go().stop @18:537 in 10
read a @18:542 in 10
read a[].b @18:547 in 10
raise IllegalStateException @18:559 in 10
call IllegalStateException @18:559 in 10
type Foo @19:621 in 11
call Foo.bar @19:638 in 11
catch IOException @19:656 in 11
call log @19:671 in 11
type Item @20:701 in 11
type Item @21:723 in 11
write this.total @22:745 in 11
call obj.call @23:768 in 11
read run @24:793 in 11
type Int @26:841 in 12
type Int @26:847 in 12
type Int @27:879 in 13
inherit K @27:886 in 13
inherit A @30:959 in 19
type Int @30:970 in 19
type Double @30:987 in 21
type Int @31:1020 in 22
type Int @31:1032 in 22
inherit Base @32:1053 in 25
type Int @33:1091 in 27
type String @33:1099 in 27
type Int @34:1124 in 28
type Int @34:1130 in 28
type Int @39:1230 in 34
type List @41:1276 in 36
type Int @41:1281 in 36
call println @41:1305 in 36
type Foo @42:1345 in 36
call xs.map @44:1377 in 36
read top @44:1399 in 36
read pair @45:1422 in 36
type Shape @46:1440 in 36
write x.y @47:1482 in 36
read Foo @48:1492 in 36
read Bar @48:1496 in 36
call a.b @49:1512 in 36
call super.run @50:1526 in 36
type List @52:1543 in 38
problem 34 identifier is missing
problem 38 this cannot be read
""".strip("\n")


def test_classes_objects_and_functions():
    assert (
        as_text(read_facts(CLASSES_OBJECTS_AND_FUNCTIONS.encode(), Language.KOTLIN))
        == CLASSES_OBJECTS_AND_FUNCTIONS_FACTS
    )
