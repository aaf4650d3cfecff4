"""`recollect`: the commands of a process, and every tool as a command."""

import sys


def main() -> None:
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:  # an agent waits for it: nothing else is loaded
        from recollect.app.hooking import main as answer

        return answer(sys.argv[2:])
    from recollect.app.commands import recollect

    return recollect.main(prog_name="recollect", args=sys.argv[1:])


if __name__ == "__main__":
    main()
