"""A misbehaving test skill: a hand-written MCP server that violates the protocol in the way its first argument names.

`rude.py HOW ...`, where HOW names the misbehaviour; without it, a small correct server of the handshake revisions.
"""

import json
import os
import sys
import threading
import time
from typing import Any

HOW = sys.argv[1] if len(sys.argv) > 1 else "honest"
REST = sys.argv[2:]
MODERN = ("deaf_listener", "list_answers")
RESULTS: dict[str, Any] = {
    "nothing": {},
    "no_list": {"content": "text"},
    "no_objects": {"content": [1]},
    "only_structured": {"structuredContent": {"a": 1}},
    "unknown_kind": {"content": [{"type": "hologram", "data": "x"}], "more": {"b": 2}},
    "no_answer_object": [1, 2],
}


def send(message: dict[str, Any]) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def tools() -> list[dict[str, Any]]:
    names = {
        "fickle": ["add", f"at_{time.monotonic_ns()}"],
        "many": [f"tool_{number}" for number in range(int(REST[0]) if HOW == "many" else 0)],
        "odd": ["fine", "with space", "fs/read", "ünï", "", "x" * 200, "a\nb", "dotted.name-1", "fine"],
    }.get(HOW, [*RESULTS, "add", "wait"])
    more = {"outputSchema": {"type": "array"}} if HOW == "list_answers" else {}
    return [{"name": name, "description": "d", "inputSchema": {"type": "object"}, **more} for name in names]


def handle(method: str, params: dict[str, Any]) -> Any:
    match method:
        case "initialize":
            capabilities = {"tools": {"listChanged": True}}
            info = {"name": "rude", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
        case "tools/list":
            if HOW == "endless_pages":
                time.sleep(float(REST[0]))
                return {"tools": tools(), "nextCursor": str(time.time())}
            size, start = 50, int(params.get("cursor") or 0)
            following = {"nextCursor": str(start + size)} if start + size < len(tools()) else {}
            return {"tools": tools()[start : start + size], **following}
        case "tools/call":
            name, arguments = params["name"], params.get("arguments", {})
            if name == "add":
                total = arguments["a"] + arguments["b"]
                more = {"structuredContent": [total]} if HOW == "list_answers" else {}
                return {"content": [{"type": "text", "text": str(total)}], **more}
            return RESULTS.get(name, {"content": [{"type": "text", "text": name}]})
        case "server/discover" if HOW in MODERN:
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
        case _:
            return None


def change_forever() -> None:
    while True:
        send({"method": "notifications/tools/list_changed"})
        time.sleep(0.001)


def main() -> None:
    if HOW == "dies_at_once":
        sys.exit("I will not")
    if HOW == "dies_until" and not os.path.exists(REST[0]):  # noqa: PTH110
        sys.exit("not yet")
    if HOW == "fickle":
        threading.Thread(target=change_forever, daemon=True).start()
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method", "")
        if HOW == "silent" or (HOW == "deaf_listener" and method == "subscriptions/listen"):
            continue
        if "id" not in message or not method:
            continue
        result: Any = handle(method, message.get("params", {}))
        if HOW == "endless_noise" and method == "tools/call":
            while True:
                os.write(1, b"noise " * 1000 + b"\n")
        if HOW == "one_endless_line" and method == "tools/call":
            while True:
                os.write(1, b"x" * 65536)
        if HOW in MODERN and method in ("server/discover", "tools/list", "tools/call"):
            result = {**result, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if result is None:
            send({"id": message["id"], "error": {"code": -32601, "message": f"no {method}"}})
        else:
            send({"id": message["id"], "result": result})


if __name__ == "__main__":
    main()
