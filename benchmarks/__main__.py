"""Run one benchmark, print its figures beside a known reference, and save them by commit."""

import argparse
import compileall
import sys

from benchmarks import (
    answerability,
    beam,
    call_graph_cases,
    call_graph_javascript,
    call_graph_python,
    calls,
    code_growth,
    code_search,
    http_load,
    locomo,
    mixed_load,
    retrieval_speed,
    session_checks,
    skills,
    startup,
    transfer,
    two_processes,
    websockets,
)
from benchmarks.report import PROJECT, ReportRow, print_report, save_report


def main() -> int:
    options = _parser().parse_args(sys.argv[1:] or ["server"])
    # An installation compiles modules to bytecode; without this, every measured process would compile what it imports.
    compileall.compile_dir(PROJECT / "src", quiet=2)
    rows, notes = _measure(options)
    print_report(rows, notes)
    print(f"\nsaved to {save_report(_report_name(options), rows, notes)}")
    return 0 if all(row.reached for row in rows) else 1


def _report_name(options: argparse.Namespace) -> str:
    match options.benchmark:
        case "locomo":
            return "locomo-onnx" if options.onnx else "locomo-static"
        case "beam":
            return f"beam-{options.size}-{options.chats}-{'onnx' if options.onnx else 'static'}"
        case name:
            return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="benchmark", required=True)
    commands.add_parser("server", help="start, calls and memory, compared with the bare SDK (the default)")
    locomo.add_options(commands.add_parser("locomo", help="find the turns that answer a question, compared with FTS5"))
    answerability.add_options(
        commands.add_parser("answers", help="whether only stored answers are presented as answers")
    )
    beam.add_options(commands.add_parser("beam", help="the same in long chats with an assistant, by kind of question"))
    retrieval_speed.add_options(commands.add_parser("speed", help="cost at 10k to 1M memories, compared with others"))
    two_processes.add_options(
        commands.add_parser("two-processes", help="what one process stores, another finds at once")
    )
    transfer.add_options(commands.add_parser("transfer", help="export and import a million memories"))
    code_search.add_options(
        commands.add_parser("code", help="find the files that answer questions, compared with other engines")
    )
    websockets.add_options(commands.add_parser("websockets", help="500 idle and 50 busy WebSockets"))
    http_load.add_options(commands.add_parser("http", help="sustained requests per second, compared with bare FastAPI"))
    mixed_load.add_options(commands.add_parser("mixed", help="200 clients with mixed calls: where the tail comes from"))
    code_growth.add_options(commands.add_parser("code-growth", help="cost of a code index as repositories grow"))
    call_graph_python.add_options(commands.add_parser("callgraph", help="call graphs of small Python programs (PyCG)"))
    call_graph_javascript.add_options(
        commands.add_parser("callgraph-js", help="call graphs of small JavaScript programs (SWARM-CG)")
    )
    commands.add_parser("callgraph-own", help="call graphs of our own TypeScript, Go and Rust programs")
    session_checks.add_options(
        commands.add_parser("summaries", help="what summaries and recaps keep of sessions, by checklists")
    )
    commands.add_parser("skills", help="call of an upstream MCP server, compared with a direct call")
    return parser


def _measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    match options.benchmark:
        case "locomo":
            return locomo.measure(options)
        case "answers":
            return answerability.measure(options)
        case "beam":
            return beam.measure(options)
        case "speed":
            return retrieval_speed.measure(options)
        case "two-processes":
            return two_processes.measure(options)
        case "websockets":
            return websockets.measure(options)
        case "http":
            return http_load.measure(options)
        case "mixed":
            return mixed_load.measure(options)
        case "transfer":
            return transfer.measure(options)
        case "code":
            return code_search.measure(options)
        case "code-growth":
            return code_growth.measure(options)
        case "callgraph":
            return call_graph_python.measure(options)
        case "callgraph-js":
            return call_graph_javascript.measure(options)
        case "callgraph-own":
            return call_graph_cases.measure()
        case "summaries":
            return session_checks.measure(options)
        case "skills":
            return skills.measure()
        case _:
            return [*startup.measure(), *calls.measure()], []


if __name__ == "__main__":
    sys.exit(main())
