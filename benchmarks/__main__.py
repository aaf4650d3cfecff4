"""`make bench` and its kin: what we claim, measured in one run beside something known."""

import argparse
import compileall
import sys

from benchmarks.report import PROJECT, Row, keep, show


def main() -> int:
    options = _parser().parse_args(sys.argv[1:] or ["house"])
    # As an installation has done: else every process that is measured would compile what it loads.
    compileall.compile_dir(PROJECT / "src", quiet=2)
    rows, notes = _measured(options)
    show(rows, notes)
    is_onnx = options.benchmark == "locomo" and options.onnx
    name = "locomo-onnx" if is_onnx else "locomo-static" if options.benchmark == "locomo" else options.benchmark
    print(f"\nkept in {keep(name, rows, notes)}")
    return 0 if all(row.reached for row in rows) else 1


def _parser() -> argparse.ArgumentParser:
    from benchmarks import (
        call_graph,
        call_graph_javascript,
        code_growth,
        code_search,
        http_load,
        locomo,
        retrieval_speed,
        transfer,
        two_processes,
        websockets,
    )

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    which = parser.add_subparsers(dest="benchmark", required=True)
    which.add_parser("house", help="start, calls and memory beside the bare SDK (when nothing is named)")
    locomo.add_options(which.add_parser("locomo", help="which turns of a conversation answer a question, beside FTS5"))
    retrieval_speed.add_options(which.add_parser("speed", help="cost at 10k to 1M memories, beside other stores"))
    two_processes.add_options(which.add_parser("two-processes", help="what one process keeps, another finds at once"))
    transfer.add_options(which.add_parser("transfer", help="a million memories out into a file and in again"))
    code_search.add_options(
        which.add_parser("code", help="which files answer questions about code, beside other engines")
    )
    websockets.add_options(which.add_parser("websockets", help="500 idle and 50 busy sockets of the live channel"))
    http_load.add_options(which.add_parser("http", help="requests a second for a minute, beside bare FastAPI"))
    code_growth.add_options(which.add_parser("code-growth", help="the cost of a code index as repositories grow"))
    call_graph.add_options(which.add_parser("callgraph", help="who calls whom in small Python programs (PyCG)"))
    call_graph_javascript.add_options(which.add_parser("callgraph-js", help="the same for JavaScript (SWARM-CG)"))
    which.add_parser("callgraph-own", help="the same for TypeScript, Go and Rust, in programs of our own")
    which.add_parser("skills", help="a call of another MCP server through ours, beside a direct one")
    return parser


def _measured(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    from benchmarks import (
        call_graph,
        call_graph_cases,
        call_graph_javascript,
        calls,
        code_growth,
        code_search,
        http_load,
        locomo,
        retrieval_speed,
        skills,
        startup,
        transfer,
        two_processes,
        websockets,
    )

    match options.benchmark:
        case "locomo":
            return locomo.measure(options)
        case "speed":
            return retrieval_speed.measure(options)
        case "two-processes":
            return two_processes.measure(options)
        case "websockets":
            return websockets.measure(options)
        case "http":
            return http_load.measure(options)
        case "transfer":
            return transfer.measure(options)
        case "code":
            return code_search.measure(options)
        case "code-growth":
            return code_growth.measure(options)
        case "callgraph":
            return call_graph.measure(options)
        case "callgraph-js":
            return call_graph_javascript.measure(options)
        case "callgraph-own":
            return call_graph_cases.measure()
        case "skills":
            return skills.measure()
        case _:
            return [*startup.measure(), *calls.measure()], []


if __name__ == "__main__":
    sys.exit(main())
