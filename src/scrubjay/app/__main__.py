"""Entry point of `scrubjay`."""

import sys
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    from scrubjay.app import commands, hook_command
else:
    commands = lazy_module("scrubjay.app.commands")
    hook_command = lazy_module("scrubjay.app.hook_command")


def main() -> None:
    # An agent waits for its hook, so this path loads neither click nor the commands.
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        return hook_command.main(sys.argv[2:])
    return commands.scrubjay.main(prog_name="scrubjay", args=sys.argv[1:])


if __name__ == "__main__":
    main()
