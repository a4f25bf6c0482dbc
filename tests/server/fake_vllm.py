#!/usr/bin/env python3
"""Plays a vLLM server on loopback: lists models, answers chats and embeddings with fixed text.

usage: fake_vllm.py PORT MODEL...

Writes one line per request to standard output: the method, the path and the Authorization header.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODELS = sys.argv[2:]
DIMENSION = 8


def listing():
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "vllm"} for name in MODELS],
    }


def chat(request):
    message = {"role": "assistant", "content": "A fixed answer."}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 3, "total_tokens": 4},
    }


def embeddings(request):
    texts = request.get("input")
    count = len(texts) if isinstance(texts, list) else 1
    return {
        "object": "list",
        "model": request.get("model"),
        "data": [{"object": "embedding", "index": i, "embedding": [0.5] * DIMENSION} for i in range(count)],
        "usage": {"prompt_tokens": count, "total_tokens": count},
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.split("?")[0].rstrip("/")
        answers = {"/health": {}, "/v1/models": listing()}
        self.answer(answers.get(path))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        makers = {"/v1/chat/completions": chat, "/v1/embeddings": embeddings}
        maker = makers.get(self.path.split("?")[0].rstrip("/"))
        self.answer(maker and maker(json.loads(body or b"{}")))

    def answer(self, value):
        code = 200
        if value is None:
            code, value = 404, {"error": {"message": "no such path", "code": 404}}
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        print(self.command, self.path, self.headers.get("Authorization", "-"), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
