"""Facts of Bash files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

FUNCTIONS_VARIABLES_AND_COMMANDS = """
#!/bin/bash
# Doc of file.
source ./lib.sh
. "$DIR/other.sh"
readonly LIMIT=3
export PATH_X="a"
declare -A map
x=1
# Runs.
run() {
  local y=2
  helper "$x" | grep foo && other $(inner a)
  trap cleanup EXIT
}
function build { run; }
alias ll='ls -l'
if [ -z "$x" ]; then run; fi
""".removeprefix("\n")

FUNCTIONS_VARIABLES_AND_COMMANDS_FACTS = """
bash 17 Doc of file.
0 constant LIMIT 5-5@5 61:77 in -1
    readonly LIMIT=3
1 variable PATH_X 6-6@6 78:95 in -1
    export PATH_X="a"
2 variable map 7-7@7 96:110 in -1
    declare -A map
3 variable x 8-8@8 111:114 in -1
    x=1
4 function run 9-14@10 115:209 in -1
    run()
    says Runs.
5 function build 15-15@15 210:233 in -1
    function build
6 function ll 16-16@16 234:250 in -1
    alias ll='ls -l'
import * from ./lib.sh @3
import * from other.sh @4
call helper @12:145 in 4
read x @12:154 in 4
call grep @12:159 in 4
call other @12:171 in 4
call inner @12:179 in 4
read cleanup @13:195 in 4
call run @15:227 in 5
call run @17:272 in -1
""".strip("\n")


def test_functions_variables_and_commands():
    assert (
        as_text(read_facts(FUNCTIONS_VARIABLES_AND_COMMANDS.encode(), Language.BASH))
        == FUNCTIONS_VARIABLES_AND_COMMANDS_FACTS
    )
