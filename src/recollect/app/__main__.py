"""`recollect`: the commands of a process, and every tool as a command."""

import sys


def main() -> None:
    from recollect.app.commands import recollect

    recollect.main(prog_name="recollect", args=sys.argv[1:])


if __name__ == "__main__":
    main()
