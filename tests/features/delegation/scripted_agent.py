"""A scripted coding agent: a real program that follows simple commands."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from scrubjay.app.application import Application
from scrubjay.app.settings import Settings
from scrubjay.core.callers import OWNER, Caller
from scrubjay.tooling.context import CallContext

Json = dict[str, Any]

_PROGRAM = """#!{python}
import os, re, subprocess, sys, time
here = os.path.dirname(os.path.abspath(__file__))

def note(pid):
    with open(os.path.join(here, "pid.new"), "w") as file:
        file.write(str(pid))
    os.rename(os.path.join(here, "pid.new"), os.path.join(here, "pid"))

if "--print" in sys.argv:
    question = sys.stdin.read()
    order, _, rest = question.strip().splitlines()[-1].partition(" ")
    message_id = re.search(r"msg_[0-9a-z]+", question)[0]
    if order == "say":
        print(rest)
    elif order == "fail":
        sys.exit("I am out of order")
    elif order == "hang":
        note(os.getpid())
        time.sleep(600)
    elif order in ("reply", "begin"):
        more = ["--no-complete"] if order == "begin" else []
        reply = ["agents", "reply-to-mira", "--in-reply-to", message_id, "--content", rest, *more]
        subprocess.run([{python!r}, "-m", "scrubjay.app", *reply], check=True, stdout=subprocess.DEVNULL)
        print("I have replied.")
    sys.exit(0)
size = os.get_terminal_size()
print("ready", size.columns, size.lines, os.isatty(0), os.getcwd(), ",".join(sorted(os.environ)), flush=True)
for line in sys.stdin:
    order, _, rest = line.strip().partition(" ")
    if order == "exit":
        sys.exit(int(rest))
    if order == "flood":
        for number in range(int(rest)):
            print("flood", number, "." * 100)
    if order == "child":
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        note(child.pid)
    print("done:", line.strip(), flush=True)
"""


def make_agent(folder: Path, name: str = "claude") -> Path:
    """Write the program into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(_PROGRAM.replace("{python!r}", repr(sys.executable)).replace("{python}", sys.executable))
    program.chmod(0o755)
    return program


def settings(home: Path, command: str, **options: Any) -> Settings:
    return Settings.model_validate({"home": home, "delegation": {"command": command, **options}})


async def call(
    app: Application,
    tool: str,
    *,
    client: str | None = "me",
    caller: Caller = OWNER,
    surface: str = "python",
    **arguments: Any,
) -> Json:
    context = CallContext(surface=surface, client=client, caller=caller)
    return (await app.dispatcher.call(tool, arguments, context)).model_dump(mode="json")


async def wait_for_output(app: Application, words: str) -> Json:
    """Wait until the project's agent has printed these words, and return its status."""
    with anyio.fail_after(10):
        while True:
            instance: Json = (await call(app, "claude_status"))["instance"]
            if words in instance["output"]:
                return instance
            await anyio.sleep(0.02)


async def read_pid(folder: Path) -> int:
    """Wait until the agent has written a process id to its file, and return it."""
    await until((folder / "pid").exists)
    return int((folder / "pid").read_text())


async def until(condition: Callable[[], bool]) -> None:
    """Poll for an effect of another process that sends no event."""
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
