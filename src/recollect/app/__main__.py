"""`recollect`: the commands of a process, and every tool as a command."""

import gc
import sys


def main() -> None:
    # What is loaded stays: to look for garbage after every 700 objects takes a tenth of the start.
    gc.set_threshold(5_000)

    from recollect.app.commands import recollect

    recollect.main(prog_name="recollect", args=sys.argv[1:])


if __name__ == "__main__":
    main()
