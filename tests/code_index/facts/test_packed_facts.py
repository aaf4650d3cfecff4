"""Facts come out of a packed digest without what else is needed to make one."""

import json
import subprocess
import sys

from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.packed_facts import (
    LateFacts,
    facts_and_callables,
    facts_in,
    outline_of,
    unpacked_facts,
    used_in,
)
from scrubjay.code_index.index.statistics import Counts
from scrubjay.code_index.models import Language

CODE = b"import os\n\n\nclass Cart:\n    def total(self):\n        return os.getpid()\n\n\ndef load(): ...\n"


def test_facts_are_had_of_their_part_of_a_digest_and_one_by_one() -> None:
    made = digest(CODE, Language.PYTHON)
    packed = made.packed()
    assert unpacked_facts(facts_in(packed)) == made.facts
    late = LateFacts(Language.PYTHON, lambda: facts_in(packed))
    assert (late.symbols, late.uses, late.imports) == (made.facts.symbols, made.facts.uses, made.facts.imports)
    assert (late.flow, late.lines) == (made.facts.flow, made.facts.lines)
    assert outline_of(late).names == [symbol.name for symbol in made.facts.symbols]
    assert facts_and_callables(packed) == (facts_in(packed), ["load", "total"])


def test_what_is_still_packed_is_told_as_what_is_not() -> None:
    broken = CODE + b"def (:\n"
    facts = digest(broken, Language.PYTHON).facts
    packed = digest(broken, Language.PYTHON).packed()
    late = LateFacts(Language.PYTHON, lambda: facts_in(packed))
    for own, other in [(used_in(late), used_in(facts)), (late.outline, outline_of(facts))]:
        assert json.loads(json.dumps(own)) == json.loads(json.dumps(other))
    assert late.problems == facts.problems != []
    counted, of_packed = Counts(), Counts()
    counted.put_in("cart.py", facts, None)
    of_packed.put_in("cart.py", late, None)
    assert of_packed == counted
    assert (counted.symbols, counted.broken) == (len(facts.symbols), {"cart.py"})


def test_who_resolves_uses_does_not_wait_for_numpy() -> None:
    program = (
        "import sys; from scrubjay.code_index.index import link_process;"
        "from scrubjay.code_index.facts import packed_facts;"
        "from scrubjay.code_index.graph import javascript, names, python, resolver; sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
