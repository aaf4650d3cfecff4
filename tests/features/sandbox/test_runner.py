"""What a program gets, and what comes back of it. Numbers are rows of the feature table."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import InvalidRequest, NotFound, TooLarge
from scrubjay.features.sandbox.outcomes import Denial, Failure, Outcome, Success, Timeout, Violation
from scrubjay.features.sandbox.profiles import Limits
from scrubjay.features.sandbox.service import MOST_CALLS, MOST_CONSOLE_CHARACTERS, Program, Sandbox
from tests.features.sandbox.conftest import LIMITS, NoTools


async def ran(sandbox: Sandbox, code: str, given: Any = None, limits: Limits = LIMITS) -> Outcome:
    with anyio.fail_after(60):
        return await sandbox.run(Program(code, "a task", given), limits, NoTools())


async def output(sandbox: Sandbox, code: str, given: Any = None) -> Any:
    outcome = await ran(sandbox, code, given)
    assert isinstance(outcome, Success), outcome
    return json.loads(outcome.output)


async def test_120_124_the_documented_program_runs(sandbox: Sandbox) -> None:
    code = """
        const result = {
            sum: 1 + 1,
            message: "Hello from sandbox"
        };
        console.log("Calculating sum...");
        return result;
    """
    outcome = await ran(sandbox, code, {"a": 1, "b": 1})
    assert isinstance(outcome, Success)
    assert json.loads(outcome.output) == {"sum": 2, "message": "Hello from sandbox"}
    assert (outcome.stdout, outcome.stderr) == ("Calculating sum...", "")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return context", {"task": "a task", "input": [1, {"two": "ä€😀"}]}),
        ("return context.input[1].two.length", 4),
        ("const x: number = context.input[0] as number; return x satisfies number", 1),
        ("enum Size { Small, Large } return Size.Large", 1),
        ("interface A { b?: string } const f = <T,>(a: T): T => a; return f<A>({ b: 'c' })", {"b": "c"}),
        ("function id<T>(a: T) { return a } const string = 0; return id<string>('x')", "x"),
        ("return await Promise.all([1, Promise.resolve(2)])", [1, 2]),
        ("const order = []; setTimeout(() => order.push('b'), 5); setTimeout((x) => order.push(x), 1, 'a');"
         "await new Promise((done) => setTimeout(done, 20)); return order", ["a", "b"]),
        ("let n = 0; const id = setInterval(() => { n += 1; if (n === 3) clearInterval(id) }, 1);"
         "await new Promise((done) => setTimeout(done, 40)); return n", 3),
        ("return [typeof process, typeof require, typeof fetch, typeof window]",
         ["object", "function", "function", "undefined"]),
        ("return [Math.max(1, 2), new Map([[1, 2]]).size, /(?<y>\\d+)/.exec('a42').groups.y]", [2, 1, "42"]),
        # Words that others refuse are words: in texts, in comments, as names of one's own.
        ("// require('fs'); fetch(); while(true)\nreturn 'child_process exec( eval( readFile'",
         "child_process exec( eval( readFile"),
        ("const spawn = (x) => x; let n = 0; while (true) { n++; if (n > 5) break } return [spawn(1), n]", [1, 6]),
        ("return [(() => 1) instanceof Function, (() => 1).constructor === Function]", [True, True]),
    ],
)  # fmt: skip
async def test_120_124_javascript_and_typescript_run(sandbox: Sandbox, code: str, expected: Any) -> None:
    assert await output(sandbox, code, [1, {"two": "ä€😀"}]) == expected


async def test_120_nothing_returned_is_empty(sandbox: Sandbox) -> None:
    outcome = await ran(sandbox, "1 + 1")
    assert isinstance(outcome, Success)
    assert outcome.output == ""


async def test_120_each_run_has_a_world_of_its_own(sandbox: Sandbox) -> None:
    await output(sandbox, "globalThis.left = 1; Array.prototype.map = null; return 1")
    assert await output(sandbox, "return [typeof left, [1].map((x) => x + 1)]") == ["undefined", [2]]


async def test_120_chance_is_another_in_each_run(sandbox: Sandbox) -> None:
    assert len({str(await output(sandbox, "return Math.random()")) for _ in range(5)}) == 5


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("return (1", "Syntax", "SyntaxError"),
        ("let x = 1; let x = 2", "Syntax", "SyntaxError"),
        ("nothing.at.all", "Runtime", "ReferenceError: nothing is not defined"),
        ("throw 'a text'", "Runtime", "a text"),
        ("throw new RangeError('bad')", "Runtime", "RangeError: bad"),
        ("require('lodash')", "Permission", "the module 'lodash' is not available in the sandbox"),
        ("import _ from 'lodash'\nreturn _", "Permission", "the module 'lodash' is not available in the sandbox"),
        ("/*\nimport fs from 'fs'\n*/\nreturn (1", "Syntax", "SyntaxError"),
        ("const f = () => f() + 1; f()", "Resource", "the stack is used up"),
        ("await new Promise(() => {})", "Runtime", "the program waits for something that never comes"),
    ],
)
async def test_120_an_error_has_its_type(sandbox: Sandbox, code: str, kind: str, message: str) -> None:
    outcome = await ran(sandbox, f"console.log('before')\n{code}" if "import" not in code else code)
    assert isinstance(outcome, Failure)
    assert outcome.error_type == kind
    assert outcome.message.startswith(message)


async def test_120_an_error_tells_its_line(sandbox: Sandbox) -> None:
    outcome = await ran(sandbox, "console.error('said')\n\nfunction third() {\n  throw new Error('here')\n}\nthird()")
    assert isinstance(outcome, Failure)
    assert outcome.message == "here"
    said, *stack = outcome.stderr.splitlines()
    assert said == "said"
    assert any("third (program:4:" in line for line in stack)
    assert any("(program:6:" in line for line in stack)


async def test_122_what_is_tried_and_caught_is_told(sandbox: Sandbox) -> None:
    code = """
        for (const name of ['fs', 'http', 'child_process', 'lodash']) { try { require(name) } catch {} }
        try { await import('node:net') } catch {}
        await fetch('https://example.com').catch(() => {})
        try { process.exit() } catch {}
        try { eval('1') } catch {}
        return 'went on'
    """
    outcome = await ran(sandbox, code)
    assert isinstance(outcome, Success)
    assert outcome.output == '"went on"'
    assert sorted(outcome.spent.denied, key=lambda own: own.what) == [
        Denial("MaliciousCode", "eval"),
        Denial("NetworkAccess", "fetch https://example.com"),
        Denial("NetworkAccess", "import node:net"),
        Denial("ProcessExecution", "process.exit"),
        Denial("ProcessExecution", "require child_process"),
        Denial("FileSystemAccess", "require fs"),
        Denial("NetworkAccess", "require http"),
        Denial("Permission", "require lodash"),
    ]


async def test_122_what_is_tried_and_not_caught_is_a_violation(sandbox: Sandbox) -> None:
    outcome = await ran(sandbox, "try { require('http') } catch {}\nrequire('fs')")
    assert isinstance(outcome, Violation)
    assert (outcome.violation_type, outcome.reason) == (
        "FileSystemAccess",
        "the module 'fs' is not available in the sandbox",
    )
    assert [own.what for own in outcome.spent.denied] == ["require http", "require fs"]


async def test_122_too_much_source_is_a_violation_without_a_run(sandbox: Sandbox) -> None:
    outcome = await ran(sandbox, "x" * 100_001)
    assert isinstance(outcome, Violation)
    assert outcome.violation_type == "MaliciousCode"
    assert outcome.spent.elapsed_ms == 0


async def test_123_what_was_said_survives_the_end_of_the_time(sandbox: Sandbox) -> None:
    limits = Limits(max_execution_time_ms=300, max_memory_mb=32, max_cpu_percent=100)
    outcome = await ran(sandbox, "console.log('step', 1); console.log({ step: 2 }); while (true);", limits=limits)
    assert isinstance(outcome, Timeout)
    assert outcome.partial_output == 'step 1\n{"step":2}'
    assert outcome.spent.elapsed_ms >= 300


async def test_123_what_is_said_has_an_end(sandbox: Sandbox) -> None:
    outcome = await ran(sandbox, "for (let i = 0; i < 400; i++) console.log('é'.repeat(1000)); return 1")
    assert isinstance(outcome, Success)
    assert outcome.spent.truncated
    assert 200_000 < len(outcome.stdout.encode()) <= MOST_CONSOLE_CHARACTERS


async def test_123_memory_has_an_end_and_the_limit_is_the_one_that_was_given(sandbox: Sandbox) -> None:
    code = "const all = []; for (let i = 0; i < 40; i++) all.push(new Uint8Array(1e6).fill(i)); return all.length"
    small, large = (Limits(max_execution_time_ms=30_000, max_memory_mb=mb, max_cpu_percent=100) for mb in (32, 96))
    assert isinstance(await ran(sandbox, code, limits=large), Success)
    outcome = await ran(sandbox, code, limits=small)
    assert isinstance(outcome, Violation)
    assert outcome.violation_type == "MemoryLimit"


async def test_123_a_program_gets_its_share_of_a_processor_and_no_more(sandbox: Sandbox) -> None:
    limits = Limits(max_execution_time_ms=2_000, max_memory_mb=32, max_cpu_percent=10)
    outcome = await ran(sandbox, "while (true);", limits=limits)
    assert isinstance(outcome, Timeout)
    # A quarter of a second is free, and looked at it is at ticks. A busy machine can only give less.
    assert outcome.spent.cpu_ms < 250 + 0.1 * outcome.spent.elapsed_ms + 200


async def test_a_great_input_is_refused_before_anything_runs(sandbox: Sandbox) -> None:
    with pytest.raises(TooLarge):
        await ran(sandbox, "return 1", "x" * 1_000_001)


@pytest.mark.parametrize("given", [float("nan"), [float("inf")]])
async def test_18_an_input_that_is_no_json_is_refused(sandbox: Sandbox, given: Any) -> None:
    with pytest.raises(InvalidRequest):
        await ran(sandbox, "return 1", given)


# -- code mode -----------------------------------------------------------------------------------------------------


class Tools:
    """A door to three tools."""

    families: Mapping[str, Sequence[str]] = {"memory": ["recall", "fail", "flood"]}

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.seconds: list[float] = []
        self.at_once = self.most_at_once = 0

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        self.calls.append((name, arguments))
        self.seconds.append(seconds)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        await anyio.sleep(0.01)
        self.at_once -= 1
        if name == "fail":
            raise NotFound("there is no such thing", hint="look elsewhere")
        return json.dumps("x" * 2_000_000) if name == "flood" else json.dumps({"asked": arguments})


async def test_120_tools_are_functions_and_several_run_at_once(sandbox: Sandbox) -> None:
    tools = Tools()
    code = "return await Promise.all([1, 2, 3].map((n) => memory.recall({ query: `q${n}` })))"
    outcome = await sandbox.run(Program(code, "", None), LIMITS, tools)
    assert isinstance(outcome, Success)
    assert json.loads(outcome.output) == [{"asked": {"query": f"q{n}"}} for n in (1, 2, 3)]
    assert tools.most_at_once == 3
    assert all(0 < seconds <= 30 for seconds in tools.seconds)


async def test_120_the_errors_of_tools_keep_their_code(sandbox: Sandbox) -> None:
    code = """
        const told = []
        for (const name of ['fail', 'flood']) {
            try { await memory[name]() } catch (e) { told.push([e.name, e.code, e.message, e.hint]) }
        }
        return told
    """
    outcome = await sandbox.run(Program(code, "", None), LIMITS, Tools())
    assert isinstance(outcome, Success)
    assert json.loads(outcome.output) == [
        ["ToolError", "not_found", "there is no such thing", "look elsewhere"],
        ["ToolError", "too_large", "the answer is larger than 1000000 bytes", "ask for less, or for parts of it"],
    ]
    uncaught = await sandbox.run(Program("await memory.fail({})", "", None), LIMITS, Tools())
    assert isinstance(uncaught, Failure)
    assert uncaught.message == "ToolError (not_found): there is no such thing"


async def test_123_calls_of_tools_are_counted(sandbox: Sandbox) -> None:
    tools = Tools()
    code = "let n = 0; try { while (true) { await memory.recall({}); n++ } } catch (e) { return [n, e.code] }"
    outcome = await sandbox.run(Program(code, "", None), LIMITS, tools)
    assert isinstance(outcome, Success)
    assert json.loads(outcome.output) == [MOST_CALLS, "rate_limited"]
    assert len(tools.calls) == MOST_CALLS


@pytest.mark.parametrize("given", ["null", "1", "'x'", "[]", "() => 1", "Symbol()", "{ a: 10n }"])
async def test_18_arguments_that_are_no_object_fail_the_call_alone(sandbox: Sandbox, given: str) -> None:
    code = f"try {{ await memory.recall({given}); return 'called' }} catch (e) {{ return 'refused' }}"
    outcome = await sandbox.run(Program(code, "", None), LIMITS, Tools())
    assert isinstance(outcome, Success)
    assert outcome.output == '"refused"'


async def test_121_without_tools_there_are_none(sandbox: Sandbox) -> None:
    limits = Limits(max_execution_time_ms=5_000, max_memory_mb=32, max_cpu_percent=100, allow_tools=False)
    outcome = await sandbox.run(Program("return typeof memory", "", None), limits, Tools())
    assert isinstance(outcome, Success)
    assert outcome.output == '"undefined"'


async def test_123_a_call_that_takes_longer_than_the_program_may_is_given_up(sandbox: Sandbox) -> None:
    given_up = anyio.Event()

    class Slow(NoTools):
        families: Mapping[str, Sequence[str]] = {"memory": ["recall"]}

        async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
            try:
                await anyio.sleep(60)
            finally:
                given_up.set()
            return "1"

    limits = Limits(max_execution_time_ms=300, max_memory_mb=32, max_cpu_percent=100)
    with anyio.fail_after(30):
        outcome = await sandbox.run(Program("await memory.recall({})", "", None), limits, Slow())
    assert isinstance(outcome, Timeout)
    assert given_up.is_set()
