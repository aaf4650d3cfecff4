"""`scrubjay`: the commands of a process, and every tool as a command."""

import sys


def main() -> None:
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:  # an agent waits for it: nothing else is loaded
        from scrubjay.app.hook_command import main as answer

        return answer(sys.argv[2:])
    from scrubjay.app.commands import scrubjay

    return scrubjay.main(prog_name="scrubjay", args=sys.argv[1:])


if __name__ == "__main__":
    main()
