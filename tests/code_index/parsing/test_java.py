"""Facts of Java files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

A_CLASS_WITH_ITS_MEMBERS_AND_USES = """
/** Doc of file. */
package com.acme.shop;

import java.util.List;
import static java.lang.Math.max;
import com.acme.*;

/** An order. */
@Entity(name = "x")
public abstract class Order<T extends Base> extends Model<T> implements Runnable, Cmp<Order> {
    public static final int LIMIT = 3, B = 4;
    private List<Item> items = new ArrayList<>();
    static { init(); }
    public Order(int a) throws IOException { super(a); this.items = null; }
    @Override
    public void run() {
        for (Item i : items) { i.go().stop(a[0].b); }
        try { Foo.bar(); throw new IllegalStateException("x"); } catch (IOException | RuntimeException e) { log(e); }
        Runnable r = () -> run();
        Function<A,B> f = this::go;
        Object o = (Item) x;
        if (o instanceof Item it) {}
        new Thread() { public void run() { super.run(); } }.start();
        int y = LIMIT + Config.SIZE;
    }
    abstract <R> R make(List<? extends R> x);
    enum Color implements K { RED, GREEN(2) { void f() {} }; int z; Color() {} }
    interface Shape extends A, B { int N = 1; double area(); default void d() {} }
    record Point(int x, int y) implements S { Point { check(); } }
    @interface Ann { String value() default "x"; }
}
""".removeprefix("\n")

A_CLASS_WITH_ITS_MEMBERS_AND_USES_FACTS = """
java 31 Doc of file.
0 module com.acme.shop 1-2@2 0:42 in -1
    package com.acme.shop
    says Doc of file.
1 class Order 8-31@10 121:1235 in -1 from Model, Runnable, Cmp by Entity(name = "x")
    public abstract class Order<T extends Base> extends Model<T> implements Runnable, Cmp<Order>
    says An order.
2 constant LIMIT 11-11@11 257:290 in 1
    public static final int LIMIT = 3, B = 4
3 constant B 11-11@11 292:297 in 1
    public static final int LIMIT = 3, B = 4
4 field items 12-12@12 303:348 in 1 hidden
    private List<Item> items
5 constructor Order 14-14@14 376:447 in 1
    public Order(int a) throws IOException
6 method run 15-25@16 452:905 in 1 by Override
    public void run()
7 method run 23-23@23 817:851 in 6
    public void run()
8 signature make 26-26@26 910:951 in 1
    abstract <R> R make(List<? extends R> x)
9 enum Color 27-27@27 956:1032 in 1 from K
    enum Color implements K
10 member RED 27-27@27 982:985 in 9
    RED
11 member GREEN 27-27@27 987:1011 in 9
    GREEN(2)
12 method f 27-27@27 998:1009 in 11
    void f()
13 field z 27-27@27 1013:1019 in 9
    int z
14 constructor Color 27-27@27 1020:1030 in 9
    Color()
15 interface Shape 28-28@28 1037:1115 in 1 from A, B
    interface Shape extends A, B
16 constant N 28-28@28 1068:1078 in 15
    int N
17 signature area 28-28@28 1079:1093 in 15
    double area()
18 method d 28-28@28 1094:1113 in 15
    default void d()
19 class Point 29-29@29 1120:1182 in 1 from S
    record Point(int x, int y) implements S
20 field x 29-29@29 1133:1138 in 19
    int x
21 field y 29-29@29 1140:1145 in 19
    int y
22 constructor Point 29-29@29 1162:1180 in 19
    Point
23 interface Ann 30-30@30 1187:1233 in 1
    @interface Ann
24 signature value 30-30@30 1204:1231 in 23
    String value() default "x"
import List from java.util @4
import max from java.lang.Math @5
import * from com.acme @6
decorate Entity @9:139 in 1
type Base @10:196 in 1
inherit Model @10:210 in 1
inherit Runnable @10:230 in 1
inherit Cmp @10:240 in 1
type Order @10:244 in 1
type List @12:311 in 1
type Item @12:316 in 1
new ArrayList @12:334 in 1
call init @13:362 in 1
type IOException @14:403 in 5
call super @14:417 in 5
write this.items @14:432 in 5
decorate Override @15:453 in 6
type Item @17:499 in 6
read items @17:508 in 6
call i.go @17:519 in 6
call i.go().stop @17:524 in 6
read a @17:529 in 6
read a[].b @17:534 in 6
call Foo.bar @18:558 in 6
raise IllegalStateException @18:575 in 6
new IllegalStateException @18:575 in 6
catch IOException @18:612 in 6
catch RuntimeException @18:626 in 6
call log @18:648 in 6
type Runnable @19:666 in 6
call run @19:685 in 6
type Function @20:700 in 6
type A @20:709 in 6
type B @20:711 in 6
read this.go @20:724 in 6
type Object @21:736 in 6
type Item @21:748 in 6
read x @21:754 in 6
type Item @22:782 in 6
new Thread @23:806 in 6
call super.run @23:843 in 7
call Thread().start @23:854 in 6
read LIMIT @24:879 in 6
read Config.SIZE @24:894 in 6
type List @26:930 in 8
inherit K @27:978 in 9
inherit A @28:1061 in 15
inherit B @28:1064 in 15
inherit S @29:1158 in 19
call check @29:1170 in 22
type String @30:1204 in 24
""".strip("\n")


def test_a_class_with_its_members_and_uses():
    assert (
        as_text(read_facts(A_CLASS_WITH_ITS_MEMBERS_AND_USES.encode(), Language.JAVA))
        == A_CLASS_WITH_ITS_MEMBERS_AND_USES_FACTS
    )
