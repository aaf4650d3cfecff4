"""Facts are read from a packed digest without unpacking the rest."""

import json
import subprocess
import sys

from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.packed_facts import (
    LazyFacts,
    extract_facts,
    extract_facts_and_callables,
    read_outline,
    read_uses,
    unpack_facts,
)
from scrubjay.code_index.index.statistics import Counts
from scrubjay.code_index.models import Language

CODE = b"import os\n\n\nclass Cart:\n    def total(self):\n        return os.getpid()\n\n\ndef load(): ...\n"


def test_facts_are_read_from_their_part_of_a_digest() -> None:
    original = digest(CODE, Language.PYTHON)
    packed = original.pack()
    assert unpack_facts(extract_facts(packed)) == original.facts
    lazy = LazyFacts(Language.PYTHON, lambda: extract_facts(packed))
    assert (lazy.symbols, lazy.uses, lazy.imports) == (
        original.facts.symbols,
        original.facts.uses,
        original.facts.imports,
    )
    assert (lazy.flow, lazy.lines) == (original.facts.flow, original.facts.lines)
    assert read_outline(lazy).names == [symbol.name for symbol in original.facts.symbols]
    assert extract_facts_and_callables(packed) == (extract_facts(packed), ["load", "total"])


def test_lazy_facts_equal_unpacked_facts() -> None:
    broken = CODE + b"def (:\n"
    facts = digest(broken, Language.PYTHON).facts
    packed = digest(broken, Language.PYTHON).pack()
    lazy = LazyFacts(Language.PYTHON, lambda: extract_facts(packed))
    for own, other in [(read_uses(lazy), read_uses(facts)), (lazy.outline, read_outline(facts))]:
        assert json.loads(json.dumps(own)) == json.loads(json.dumps(other))
    assert lazy.problems == facts.problems != []
    counted, packed_counts = Counts(), Counts()
    counted.add("cart.py", facts, None)
    packed_counts.add("cart.py", lazy, None)
    assert packed_counts == counted
    assert (counted.symbols, counted.broken) == (len(facts.symbols), {"cart.py"})


def test_the_link_process_does_not_import_numpy() -> None:
    program = (
        "import sys; from scrubjay.code_index.index import link_process;"
        "from scrubjay.code_index.facts import packed_facts;"
        "from scrubjay.code_index.graph import javascript, names, python, resolver; sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
