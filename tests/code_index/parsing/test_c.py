"""Facts of C and C++ files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

STRUCTS_FUNCTIONS_AND_MACROS = """
/* doc */
#include <stdio.h>
#ifndef X_H
#define X_H
struct node { int v; struct node *next; };
typedef struct node node_t;
typedef unsigned int u32;
enum color { RED, GREEN };
static int count = 0, *other;
int main(int argc, char **argv);
static inline struct node *make(int v) { node_t *n = malloc(sizeof(node_t));
    n->next = NULL;
    count++;
    run(cb, &handler);
    ops->open(n);
    return n;
    }
const struct ops my_ops = { .open = my_open, .close = my_close };
#endif
K_R(int) foo(a) int a; { }
""".removeprefix("\n")

STRUCTS_FUNCTIONS_AND_MACROS_FACTS = """
c 20 doc
0 struct node 5-5@5 53:94 in -1
    struct node
1 field v 5-5@5 67:73 in 0
    int v
2 field next 5-5@5 74:92 in 0
    struct node *next
3 type node_t 6-6@6 96:123 in -1
    typedef struct node node_t
4 type u32 7-7@7 124:149 in -1
    typedef unsigned int u32
5 enum color 8-8@8 150:175 in -1
    enum color
6 member RED 8-8@8 163:166 in 5
    RED
7 member GREEN 8-8@8 168:173 in 5
    GREEN
8 variable count 9-9@9 177:197 in -1 hidden
    static int count
9 variable other 9-9@9 199:205 in -1 hidden
    static int count = 0, *other
10 signature main 10-10@10 207:239 in -1
    int main(int argc, char **argv)
11 function make 11-17@11 240:410 in -1 hidden
    static inline struct node *make(int v)
12 constant my_ops 18-18@18 411:476 in -1
    const struct ops my_ops
13 function foo 20-20@20 484:510 in -1
    K_R(int) foo(a) int a
import from stdio.h @2
type node @5:81 in 0
type node @6:111 in -1
type node @11:261 in 11
type node_t @11:281 in 11
call malloc @11:293 in 11
read node_t @11:307 in 11
write n.next @12:324 in 11
write count @13:341 in 11
call run @14:354 in 11
read cb @14:358 in 11
read handler @14:363 in 11
call ops.open @15:382 in 11
type ops @18:424 in -1
read my_open @18:447 in -1
read my_close @18:465 in -1
read K_R @20:484 in 13
read a @20:497 in 13
""".strip("\n")

CLASSES_TEMPLATES_AND_OUT_OF_CLASS_DEFINITIONS = """
// File doc.
#include <stdio.h>
#include "foo/bar.h"
#define MAX 10
#define SQ(x) ((x)*(x))
using namespace std;
using std::string;
namespace a::b {
// A point.
template <typename T>
class Point : public Base<T>, private ns::Other {
 public:
  Point(int x) : x_(x) { init(); }
  ~Point();
  virtual void move(int dx) const override = 0;
  static Point make();
  bool operator==(const Point& o) const { return x_ == o.x_; }
  int x_, *y_ = nullptr;
  enum Kind { A, B = 2 };
  using Alias = std::vector<int>;
  friend class F;
};
struct S { int a; void (*cb)(int); };
union U { int i; float f; };
enum class E : int { X, Y };
typedef struct { int a; } Anon;
typedef int (*Fn)(int);
}
static const int kLimit = 3;
extern int g;
int add(int a, int b);
template <class T> T mx(T a, T b) { return a > b ? a : b; }
void Point<int>::move(int dx) { this->x_ = dx;
    obj.call(1).next();
    ptr->go();
    a::b::f<int>(3);
    auto p = new Foo(1);
    delete p;
    throw std::runtime_error("x");
 try { } catch (const std::exception& e) { } auto l = [&](int q) { return g + q;
     };
     int *z[3];
     Foo f2{1};
     Foo f3(2);
     auto s = static_cast<Bar*>(p);
     std::make_unique<Baz>();
     }
int *ptrf(void) { return 0; }
extern "C" { void cfun(void); }
using X = int;
concept C = true;
int arr[3] = {1,2,3};
""".removeprefix("\n")

CLASSES_TEMPLATES_AND_OUT_OF_CLASS_DEFINITIONS_FACTS = """
cpp 52 File doc.
0 macro MAX 4-4@4 53:68 in -1
    #define MAX 10
1 macro SQ 5-5@5 68:92 in -1
    #define SQ(x) ((x)*(x))
2 module a.b 8-28@8 132:682 in -1
    namespace a::b
3 class Point 9-22@11 149:527 in 2 from Base, ns.Other
    template <typename T> class Point : public Base<T>, private ns::Other
    says A point.
4 constructor Point 13-13@13 244:276 in 3
    Point(int x) : x_(x)
5 signature ~Point 14-14@14 279:288 in 3
    ~Point()
6 signature move 15-15@15 291:336 in 3
    virtual void move(int dx) const override
7 signature make 16-16@16 339:359 in 3
    static Point make()
8 method operator== 17-17@17 362:422 in 3
    bool operator==(const Point& o) const
9 field x_ 18-18@18 425:431 in 3
    int x_, *y_
10 field y_ 18-18@18 433:436 in 3
    int x_, *y_
11 enum Kind 19-19@19 450:472 in 3
    enum Kind
12 member A 19-19@19 462:463 in 11
    A
13 member B 19-19@19 465:470 in 11
    B = 2
14 type Alias 20-20@20 476:507 in 3
    using Alias = std::vector<int>
15 struct S 23-23@23 529:565 in 2
    struct S
16 field a 23-23@23 540:546 in 15
    int a
17 field cb 23-23@23 547:563 in 15
    void (*cb)(int)
18 struct U 24-24@24 567:594 in 2
    union U
19 field i 24-24@24 577:583 in 18
    int i
20 field f 24-24@24 584:592 in 18
    float f
21 enum E 25-25@25 596:623 in 2
    enum class E : int
22 member X 25-25@25 617:618 in 21
    X
23 member Y 25-25@25 620:621 in 21
    Y
24 struct Anon 26-26@26 625:656 in 2
    typedef struct
25 field a 26-26@26 642:648 in 24
    int a
26 type Fn 27-27@27 657:680 in 2
    typedef int (*Fn)(int)
27 constant kLimit 29-29@29 683:711 in -1 hidden
    static const int kLimit
28 variable g 30-30@30 712:725 in -1
    extern int g
29 signature add 31-31@31 726:748 in -1
    int add(int a, int b)
30 function mx 32-32@32 749:808 in -1
    template <class T> T mx(T a, T b)
31 method move 33-47@33 809:1199 in -1 of Point
    void Point<int>::move(int dx)
32 function ptrf 48-48@48 1200:1229 in -1
    int *ptrf(void)
33 signature cfun 49-49@49 1243:1259 in -1
    void cfun(void)
34 type X 50-50@50 1262:1276 in -1
    using X = int
35 type C 51-51@51 1277:1294 in -1
    concept C = true
36 variable arr 52-52@52 1295:1316 in -1
    int arr[3]
import from stdio.h @2
import from foo/bar.h @3
import * from std @6
import string from std @7
inherit Base @11:204 in 3
inherit ns.Other @11:225 in 3
call init @13:267 in 4
type Point @16:346 in 3
type Point @17:384 in 8
read x_ @17:409 in 8
type std.vector @20:495 in 14
type F @21:523 in 3
write this.x_ @33:847 in 31
call obj.call @34:864 in 31
call obj.call().next @34:872 in 31
call ptr.go @35:889 in 31
call a.b.f @36:905 in 31
new Foo @37:933 in 31
raise std.runtime_error @39:970 in 31
call std.runtime_error @39:970 in 31
catch std.exception @40:1017 in 31
read g @40:1064 in 31
type Foo @43:1100 in 31
type Foo @44:1116 in 31
type Bar @45:1153 in 31
call std.make_unique @46:1173 in 31
type Baz @46:1185 in 31
""".strip("\n")


def test_structs_functions_and_macros():
    assert as_text(read_facts(STRUCTS_FUNCTIONS_AND_MACROS.encode(), Language.C)) == STRUCTS_FUNCTIONS_AND_MACROS_FACTS


def test_classes_templates_and_out_of_class_definitions():
    assert (
        as_text(read_facts(CLASSES_TEMPLATES_AND_OUT_OF_CLASS_DEFINITIONS.encode(), Language.CPP))
        == CLASSES_TEMPLATES_AND_OUT_OF_CLASS_DEFINITIONS_FACTS
    )
