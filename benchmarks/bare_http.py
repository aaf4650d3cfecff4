"""Reference for HTTP: the smallest FastAPI application with the same routes, on the same uvicorn."""

import socket
import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()


class Question(BaseModel):
    query: str
    limit: int = 10


class Memory(BaseModel):
    id: str
    content: str
    score: float


class Answer(BaseModel):
    memories: list[Memory]


FOUND = [Memory(id=f"mem_{n}", content=f"A memory of ordinary length, {n}", score=0.5) for n in range(5)]


@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok", "version": "0"}


@app.post("/v1/tools/recall")
async def recall(question: Question) -> Answer:
    return Answer(memories=FOUND)


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
    sys.exit(uvicorn.Server(config).run(sockets=[listener]))
