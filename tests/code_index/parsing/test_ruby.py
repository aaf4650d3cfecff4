"""Facts of Ruby files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

MODULES_CLASSES_AND_CALLS_THAT_DECLARE = """
# Doc.
require 'json'
require_relative "../lib/foo"
module Acme
  # An order.
  class Order < Model::Base
    include Comparable
    extend Foo
    LIMIT = 3
    attr_accessor :name, :total
    attr_reader :x
    @@count = 0
    has_many :items
    def initialize(a, b = 1)
      @a = a
      super
    end
    def self.make(x) = new(x)
    def run?
      items.each { |i| i.go.stop(x[0]) }
      raise ArgumentError, "x"
      raise Foo::Bar.new("x")
    rescue IOError, Foo::Err => e
      puts e
      Foo::Bar.call
      helper
      $g = 1
    end
    class << self
      def build; end
    end
    private
    def secret; end
    alias old run?
    alias_method :a, :b
    define_method(:dyn) { |x| x }
  end
end
X = Struct.new(:a) do
  def f; end
end
def top(*args, **kw) yield; end
Order.new(1)
l = ->(x) { x + 1 }
class A::B; end
describe "x" do it("y") { z } end
""".removeprefix("\n")

MODULES_CLASSES_AND_CALLS_THAT_DECLARE_FACTS = """
ruby 46 Doc.
0 module Acme 4-38@4 52:718 in -1
    module Acme
1 class Order 5-37@6 66:714 in 0 from Model.Base, Comparable, Foo
    class Order < Model::Base
    says An order.
2 constant LIMIT 9-9@9 148:157 in 1
    LIMIT = 3
3 field name 10-10@10 162:181 in 1
    attr_accessor :name, :total
4 field total 10-10@10 183:189 in 1
    attr_accessor :name, :total
5 field x 11-11@11 194:208 in 1
    attr_reader :x
6 field @@count 12-12@12 213:224 in 1 hidden
    @@count = 0
7 constructor initialize 14-17@14 249:306 in 1
    def initialize(a, b = 1)
8 field @a 15-15@15 280:286 in 1 hidden
    @a = a
9 method make 18-18@18 311:336 in 1
    def self.make(x)
10 method run? 19-28@19 341:552 in 1
    def run?
11 method build 30-30@30 577:591 in 1
    def build; end
12 method secret 33-33@33 616:631 in 1 hidden
    def secret; end
13 method old 34-34@34 636:650 in 1
    alias old run?
14 method a 35-35@35 655:674 in 1
    alias_method :a, :b
15 method dyn 36-36@36 679:708 in 1 hidden
    define_method(:dyn)
16 class X 39-41@39 719:757 in -1
    X = Struct.new(:a)
17 method f 40-40@40 743:753 in 16
    def f; end
18 function top 42-42@42 758:789 in -1
    def top(*args, **kw)
19 class B 45-45@45 823:838 in -1
    class A::B; end
import * from json @2
import * from ../lib/foo @3
inherit Model.Base @6:101 in 1
inherit Comparable @7:118 in 1
inherit Foo @8:140 in 1
write @@count @12:213 in 1
call has_many @13:229 in 1
write @a @15:280 in 7
call super @16:293 in 7
call new @18:330 in 9
call items.each @20:362 in 10
call i.go @20:375 in 10
call i.go().stop @20:378 in 10
call x @20:383 in 10
raise ArgumentError @21:403 in 10
raise Foo.Bar @22:439 in 10
new Foo.Bar @22:439 in 10
catch IOError @23:463 in 10
catch Foo.Err @23:477 in 10
call puts @24:492 in 10
call Foo.Bar.call @25:514 in 10
call helper @26:525 in 10
write $g @27:538 in 10
read run? @34:646 in 1
read b @35:672 in 1
new Struct @39:723 in 16
new Order @43:790 in -1
call describe @46:839 in -1
call it @46:855 in -1
call z @46:865 in -1
""".strip("\n")


def test_modules_classes_and_calls_that_declare():
    assert (
        as_text(read_facts(MODULES_CLASSES_AND_CALLS_THAT_DECLARE.encode(), Language.RUBY))
        == MODULES_CLASSES_AND_CALLS_THAT_DECLARE_FACTS
    )
