"""The environment of sandboxed programs, and their outcomes. Numbers are rows of the feature table."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import InvalidRequest, NotFound, TooLarge
from scrubjay.features.sandbox.outcomes import Denial, RunFailure, RunOutcome, RunSuccess, RunTimeout, RunViolation
from scrubjay.features.sandbox.profiles import RunLimits
from scrubjay.features.sandbox.service import MAX_CALLS, MAX_CONSOLE_CHARACTERS, Sandbox, SandboxProgram
from tests.features.sandbox.conftest import LIMITS, NoTools


async def run(sandbox: Sandbox, code: str, input_value: Any = None, limits: RunLimits = LIMITS) -> RunOutcome:
    with anyio.fail_after(60):
        return await sandbox.run(SandboxProgram(code, "a task", input_value), limits, NoTools())


async def output(sandbox: Sandbox, code: str, input_value: Any = None) -> Any:
    outcome = await run(sandbox, code, input_value)
    assert isinstance(outcome, RunSuccess), outcome
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
    outcome = await run(sandbox, code, {"a": 1, "b": 1})
    assert isinstance(outcome, RunSuccess)
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
        # Suspicious words are allowed in strings, comments and as names: the source is not searched.
        ("// require('fs'); fetch(); while(true)\nreturn 'child_process exec( eval( readFile'",
         "child_process exec( eval( readFile"),
        ("const spawn = (x) => x; let n = 0; while (true) { n++; if (n > 5) break } return [spawn(1), n]", [1, 6]),
        ("return [(() => 1) instanceof Function, (() => 1).constructor === Function]", [True, True]),
    ],
)  # fmt: skip
async def test_120_124_javascript_and_typescript_run(sandbox: Sandbox, code: str, expected: Any) -> None:
    assert await output(sandbox, code, [1, {"two": "ä€😀"}]) == expected


async def test_120_a_program_that_returns_nothing_has_empty_output(sandbox: Sandbox) -> None:
    outcome = await run(sandbox, "1 + 1")
    assert isinstance(outcome, RunSuccess)
    assert outcome.output == ""


async def test_120_each_run_has_its_own_globals(sandbox: Sandbox) -> None:
    await output(sandbox, "globalThis.left = 1; Array.prototype.map = null; return 1")
    assert await output(sandbox, "return [typeof left, [1].map((x) => x + 1)]") == ["undefined", [2]]


async def test_120_each_run_has_its_own_random_seed(sandbox: Sandbox) -> None:
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
        ("const f = () => f() + 1; f()", "Resource", "stack overflow"),
        ("await new Promise(() => {})", "Runtime", "the program waits for a promise that never resolves"),
    ],
)
async def test_120_an_error_has_its_type(sandbox: Sandbox, code: str, kind: str, message: str) -> None:
    outcome = await run(sandbox, f"console.log('before')\n{code}" if "import" not in code else code)
    assert isinstance(outcome, RunFailure)
    assert outcome.error_type == kind
    assert outcome.message.startswith(message)


async def test_120_an_error_has_its_line_numbers(sandbox: Sandbox) -> None:
    outcome = await run(
        sandbox, "console.error('printed')\n\nfunction third() {\n  throw new Error('here')\n}\nthird()"
    )
    assert isinstance(outcome, RunFailure)
    assert outcome.message == "here"
    printed, *stack = outcome.stderr.splitlines()
    assert printed == "printed"
    assert any("third (program:4:" in line for line in stack)
    assert any("(program:6:" in line for line in stack)


async def test_122_denied_accesses_that_the_program_caught_are_reported(sandbox: Sandbox) -> None:
    code = """
        for (const name of ['fs', 'http', 'child_process', 'lodash']) { try { require(name) } catch {} }
        try { await import('node:net') } catch {}
        await fetch('https://example.com').catch(() => {})
        try { process.exit() } catch {}
        try { eval('1') } catch {}
        return 'continued'
    """
    outcome = await run(sandbox, code)
    assert isinstance(outcome, RunSuccess)
    assert outcome.output == '"continued"'
    assert sorted(outcome.usage.denied, key=lambda denial: denial.what) == [
        Denial("MaliciousCode", "eval"),
        Denial("NetworkAccess", "fetch https://example.com"),
        Denial("NetworkAccess", "import node:net"),
        Denial("ProcessExecution", "process.exit"),
        Denial("ProcessExecution", "require child_process"),
        Denial("FileSystemAccess", "require fs"),
        Denial("NetworkAccess", "require http"),
        Denial("Permission", "require lodash"),
    ]


async def test_122_a_denied_access_that_is_not_caught_is_a_violation(sandbox: Sandbox) -> None:
    outcome = await run(sandbox, "try { require('http') } catch {}\nrequire('fs')")
    assert isinstance(outcome, RunViolation)
    assert (outcome.violation_type, outcome.reason) == (
        "FileSystemAccess",
        "the module 'fs' is not available in the sandbox",
    )
    assert [denial.what for denial in outcome.usage.denied] == ["require http", "require fs"]


async def test_122_too_long_source_is_a_violation_and_is_not_run(sandbox: Sandbox) -> None:
    outcome = await run(sandbox, "x" * 100_001)
    assert isinstance(outcome, RunViolation)
    assert outcome.violation_type == "MaliciousCode"
    assert outcome.usage.elapsed_ms == 0


async def test_123_a_timeout_keeps_the_output_so_far(sandbox: Sandbox) -> None:
    limits = RunLimits(max_execution_time_ms=300, max_memory_mb=32, max_cpu_percent=100)
    outcome = await run(sandbox, "console.log('step', 1); console.log({ step: 2 }); while (true);", limits=limits)
    assert isinstance(outcome, RunTimeout)
    assert outcome.partial_output == 'step 1\n{"step":2}'
    assert outcome.usage.elapsed_ms >= 300


async def test_123_the_output_is_limited(sandbox: Sandbox) -> None:
    outcome = await run(sandbox, "for (let i = 0; i < 400; i++) console.log('é'.repeat(1000)); return 1")
    assert isinstance(outcome, RunSuccess)
    assert outcome.usage.truncated
    assert 200_000 < len(outcome.stdout.encode()) <= MAX_CONSOLE_CHARACTERS


@pytest.mark.parametrize("size", [300_000, 20_000_000, 25_000_000])
@pytest.mark.parametrize("call", ["console.log(text)", "console.error(1, text)", "console.assert(false, text, text)"])
async def test_123_a_very_long_line_is_reported_as_truncated(sandbox: Sandbox, call: str, size: int) -> None:
    outcome = await run(sandbox, f"const text = 'x'.repeat({size}); {call}; console.log('after'); return 1")
    assert isinstance(outcome, RunSuccess), outcome
    assert outcome.usage.truncated
    assert len(outcome.stdout) + len(outcome.stderr) > 200_000


async def test_123_an_object_that_cannot_be_printed_for_want_of_memory_is_reported_as_truncated(
    sandbox: Sandbox,
) -> None:
    outcome = await run(sandbox, "console.log({ text: 'x'.repeat(25e6) }); return 1")
    assert isinstance(outcome, RunSuccess), outcome
    assert outcome.usage.truncated


async def test_123_fifty_megabytes_on_the_console_are_reported_as_truncated(sandbox: Sandbox) -> None:
    limits = RunLimits(max_execution_time_ms=30_000, max_memory_mb=256, max_cpu_percent=100)
    outcome = await run(sandbox, "console.log('x'.repeat(5e7)); return 1", limits=limits)
    assert isinstance(outcome, RunSuccess), outcome
    assert outcome.usage.truncated


@pytest.mark.parametrize("size", [1_500_000, 20_000_000])
async def test_123_a_very_long_result_is_an_error_that_names_the_maximum(sandbox: Sandbox, size: int) -> None:
    outcome = await run(sandbox, f"return 'x'.repeat({size})")
    assert isinstance(outcome, RunFailure), outcome
    assert "the maximum is 1000000" in outcome.message


async def test_123_the_requested_memory_limit_applies(sandbox: Sandbox) -> None:
    code = "const all = []; for (let i = 0; i < 40; i++) all.push(new Uint8Array(1e6).fill(i)); return all.length"
    small, large = (RunLimits(max_execution_time_ms=30_000, max_memory_mb=mb, max_cpu_percent=100) for mb in (32, 96))
    assert isinstance(await run(sandbox, code, limits=large), RunSuccess)
    outcome = await run(sandbox, code, limits=small)
    assert isinstance(outcome, RunViolation)
    assert outcome.violation_type == "MemoryLimit"


async def test_123_a_program_gets_at_most_its_cpu_share(sandbox: Sandbox) -> None:
    limits = RunLimits(max_execution_time_ms=2_000, max_memory_mb=32, max_cpu_percent=10)
    outcome = await run(sandbox, "while (true);", limits=limits)
    assert isinstance(outcome, RunTimeout)
    # The first quarter of a second is free, and the share is checked at ticks. On a busy machine the program gets less.
    assert outcome.usage.cpu_ms < 250 + 0.1 * outcome.usage.elapsed_ms + 200


async def test_a_too_large_input_is_refused_before_the_run(sandbox: Sandbox) -> None:
    with pytest.raises(TooLarge):
        await run(sandbox, "return 1", "x" * 1_000_001)


@pytest.mark.parametrize("input_value", [float("nan"), [float("inf")]])
async def test_18_an_input_that_is_not_json_is_refused(sandbox: Sandbox, input_value: Any) -> None:
    with pytest.raises(InvalidRequest):
        await run(sandbox, "return 1", input_value)


# -- code mode -----------------------------------------------------------------------------------------------------


class Tools:
    """A tool bridge with three tools."""

    families: Mapping[str, Sequence[str]] = {"memory": ["recall", "fail", "flood"]}

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.seconds: list[float] = []
        self.concurrent = self.max_concurrent = 0

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        self.calls.append((name, arguments))
        self.seconds.append(seconds)
        self.concurrent += 1
        self.max_concurrent = max(self.concurrent, self.max_concurrent)
        await anyio.sleep(0.01)
        self.concurrent -= 1
        if name == "fail":
            raise NotFound("there is no such thing", hint="look elsewhere")
        return json.dumps("x" * 2_000_000) if name == "flood" else json.dumps({"received": arguments})


async def test_120_tools_are_functions_and_run_concurrently(sandbox: Sandbox) -> None:
    tools = Tools()
    code = "return await Promise.all([1, 2, 3].map((n) => memory.recall({ query: `q${n}` })))"
    outcome = await sandbox.run(SandboxProgram(code, "", None), LIMITS, tools)
    assert isinstance(outcome, RunSuccess)
    assert json.loads(outcome.output) == [{"received": {"query": f"q{n}"}} for n in (1, 2, 3)]
    assert tools.max_concurrent == 3
    assert all(0 < seconds <= 30 for seconds in tools.seconds)


async def test_120_the_errors_of_tools_keep_their_code(sandbox: Sandbox) -> None:
    code = """
        const errors = []
        for (const name of ['fail', 'flood']) {
            try { await memory[name]() } catch (e) { errors.push([e.name, e.code, e.message, e.hint]) }
        }
        return errors
    """
    outcome = await sandbox.run(SandboxProgram(code, "", None), LIMITS, Tools())
    assert isinstance(outcome, RunSuccess)
    assert json.loads(outcome.output) == [
        ["ToolError", "not_found", "there is no such thing", "look elsewhere"],
        ["ToolError", "too_large", "the answer is larger than 1000000 bytes", "request less, or in several parts"],
    ]
    uncaught = await sandbox.run(SandboxProgram("await memory.fail({})", "", None), LIMITS, Tools())
    assert isinstance(uncaught, RunFailure)
    assert uncaught.message == "ToolError (not_found): there is no such thing"


async def test_123_the_number_of_tool_calls_is_limited(sandbox: Sandbox) -> None:
    tools = Tools()
    code = "let n = 0; try { while (true) { await memory.recall({}); n++ } } catch (e) { return [n, e.code] }"
    outcome = await sandbox.run(SandboxProgram(code, "", None), LIMITS, tools)
    assert isinstance(outcome, RunSuccess)
    assert json.loads(outcome.output) == [MAX_CALLS, "rate_limited"]
    assert len(tools.calls) == MAX_CALLS


@pytest.mark.parametrize("arguments", ["null", "1", "'x'", "[]", "() => 1", "Symbol()", "{ a: 10n }"])
async def test_18_arguments_that_are_not_an_object_fail_only_the_call(sandbox: Sandbox, arguments: str) -> None:
    code = f"try {{ await memory.recall({arguments}); return 'called' }} catch (e) {{ return 'refused' }}"
    outcome = await sandbox.run(SandboxProgram(code, "", None), LIMITS, Tools())
    assert isinstance(outcome, RunSuccess)
    assert outcome.output == '"refused"'


async def test_121_without_permission_there_are_no_tool_functions(sandbox: Sandbox) -> None:
    limits = RunLimits(max_execution_time_ms=5_000, max_memory_mb=32, max_cpu_percent=100, allow_tools=False)
    outcome = await sandbox.run(SandboxProgram("return typeof memory", "", None), limits, Tools())
    assert isinstance(outcome, RunSuccess)
    assert outcome.output == '"undefined"'


async def test_123_a_tool_call_is_cancelled_when_the_program_times_out(sandbox: Sandbox) -> None:
    cancelled = anyio.Event()

    class Slow(NoTools):
        families: Mapping[str, Sequence[str]] = {"memory": ["recall"]}

        async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
            try:
                await anyio.sleep(60)
            finally:
                cancelled.set()
            return "1"

    limits = RunLimits(max_execution_time_ms=300, max_memory_mb=32, max_cpu_percent=100)
    with anyio.fail_after(30):
        outcome = await sandbox.run(SandboxProgram("await memory.recall({})", "", None), limits, Slow())
    assert isinstance(outcome, RunTimeout)
    assert cancelled.is_set()
