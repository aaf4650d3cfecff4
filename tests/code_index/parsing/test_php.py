"""Facts of PHP files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

CLASSES_FUNCTIONS_AND_CONSTANTS = r"""
<?php
/** Doc. */
declare(strict_types=1);
namespace Acme\Shop;
use Foo\Bar;
use Foo\{A, B as C};
use function Foo\helper;
require_once __DIR__ . '/x.php';
include 'y.php';
const TOP = 1;
define('DEF', 2);
/** An order. */
#[Entity]
abstract class Order extends Model implements Runnable, Countable {
    use Loggable, Other;
    const LIMIT = 3;
    public int $x = 1, $y;
    private ?Item $item;
    public function __construct(private readonly Foo $foo, $b = 2) { parent::__construct(); $this->x = 1; }
    #[Route("/")]
    public static function make(Item $a): static { return new static($a); }
    abstract protected function f(): void;
    public function run() {
        $this->items->each(fn($i) => $i->go());
            Foo::bar();
            helper(1);
            new Item(1);
            throw new RuntimeException("x");
        try { } catch (IOException | Err $e) { } $f = function() use ($x) { return 1;
            };
            $x?->foo();
            $a[0]->b();
            \strlen("x");
            Foo::LIMIT;
            Foo::$v;
            $o instanceof Item;
            self::K;
    }
}
interface Shape extends A, B { const N = 1; public function area(): float; }
trait T { function t() {} }
enum Suit: string implements X { case Hearts = 'H'; case Spades; const Z = 1; function l() {} }
function top(int $x): ?Foo { return $x; }
$g = 1;
$h = function() {};
$an = new class extends Foo { function q() {} };
""".removeprefix("\n")

CLASSES_FUNCTIONS_AND_CONSTANTS_FACTS = r"""
php 46 Doc.
0 module Acme.Shop 4-4@4 43:63 in -1
    namespace Acme\Shop
1 constant TOP 10-10@10 173:187 in -1
    const TOP
2 constant DEF 11-11@11 188:204 in -1
    define('DEF', 2)
3 class Order 12-39@14 206:1117 in -1 from Model, Runnable, Countable, Loggable, Other by Entity
    abstract class Order extends Model implements Runnable, Countable
    says An order.
4 constant LIMIT 16-16@16 330:346 in 3
    const LIMIT
5 field x 17-17@17 351:368 in 3
    public int $x = 1, $y
6 field y 17-17@17 370:372 in 3
    public int $x = 1, $y
7 field item 18-18@18 378:398 in 3 hidden
    private ?Item $item
8 constructor __construct 19-19@19 403:506 in 3
    public function __construct(private readonly Foo $foo, $b = 2)
9 field foo 19-19@19 431:456 in 3 hidden
    private readonly Foo $foo
10 method make 20-21@21 511:600 in 3 by Route("/")
    public static function make(Item $a): static
11 signature f 22-22@22 605:643 in 3
    abstract protected function f(): void
12 method run 23-38@23 648:1115 in 3
    public function run()
13 interface Shape 40-40@40 1118:1194 in -1 from A, B
    interface Shape extends A, B
14 constant N 40-40@40 1149:1161 in 13
    const N
15 signature area 40-40@40 1162:1192 in 13
    public function area(): float
16 trait T 41-41@41 1195:1222 in -1
    trait T
17 method t 41-41@41 1205:1220 in 16
    function t()
18 enum Suit 42-42@42 1223:1318 in -1 from X
    enum Suit: string implements X
19 member Hearts 42-42@42 1256:1274 in 18
    case Hearts = 'H'
20 member Spades 42-42@42 1275:1287 in 18
    case Spades
21 constant Z 42-42@42 1288:1300 in 18
    const Z
22 method l 42-42@42 1301:1316 in 18
    function l()
23 function top 43-43@43 1319:1360 in -1
    function top(int $x): ?Foo
24 variable g 44-44@44 1361:1367 in -1
    $g = 1
25 function h 45-45@45 1369:1387 in -1
    $h = function()
26 variable an 46-46@46 1389:1436 in -1
    $an = new class extends Foo { function q() {} }
27 method q 46-46@46 1419:1434 in -1
    function q()
import Bar from Foo @5
import A from Foo @6
import B from Foo as C @6
import helper from Foo @7
import * from x.php @8
import * from y.php @9
call define @11:188 in -1
decorate Entity @13:225 in 3
inherit Model @14:262 in 3
inherit Runnable @14:279 in 3
inherit Countable @14:289 in 3
inherit Loggable @15:309 in 3
inherit Other @15:319 in 3
type Item @18:387 in 3
type Foo @19:448 in 8
call parent.__construct @19:476 in 8
write this.x @19:498 in 8
decorate Route @20:513 in 10
type Item @21:557 in 10
type static @21:567 in 10
new static @21:587 in 10
call this.items.each @24:694 in 12
call i.go @24:713 in 12
call Foo.bar @25:737 in 12
call helper @26:756 in 12
new Item @27:783 in 12
raise RuntimeException @28:814 in 12
new RuntimeException @28:814 in 12
catch IOException @29:860 in 12
catch Err @29:874 in 12
call x.foo @31:955 in 12
call a[].b @32:981 in 12
call strlen @33:999 in 12
read Foo.LIMIT @34:1029 in 12
read Foo.v @35:1053 in 12
read Item @36:1083 in 12
read self.K @37:1107 in 12
inherit A @40:1142 in 13
inherit B @40:1145 in 13
inherit X @42:1252 in 18
type Foo @43:1342 in 23
inherit Foo @46:1413 in -1
""".strip("\n")


def test_classes_functions_and_constants():
    assert (
        as_text(read_facts(CLASSES_FUNCTIONS_AND_CONSTANTS.encode(), Language.PHP))
        == CLASSES_FUNCTIONS_AND_CONSTANTS_FACTS
    )
