"""A web server on the loopback interface that serves one file, and misbehaves as it is told, one request at a time."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

QUOTA = b"<!DOCTYPE html><html><title>Google Drive - Quota exceeded</title>Too many users have viewed this file</html>"
LOG_IN = b"<html><form>Please sign in <input type=password></form></html>"


class Server(ThreadingHTTPServer):
    """`faults` are used up, one a request; then it behaves. `asked` has the Range header of each request, or None."""

    daemon_threads = True

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content, self.etag = content, True
        self.faults: list[str] = []
        self.asked: list[str | None] = []
        self.closing = threading.Event()

    def url(self, name: str = "file.bin") -> str:
        """The address of the file; the name is not looked at, but for `/gone`, `/locked`."""
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.server.asked.append(self.headers.get("Range"))
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if path in {"/gone", "/locked", "/elsewhere"} or fault in _ANSWERS:
            self._answer(*_ANSWERS[fault or path])
        else:
            self._serve(fault)

    def _serve(self, fault: str) -> None:
        if fault in {"changes", "changes, careless"}:
            self.server.content = self.server.content[::-1]
        content, mark = self.server.content, f'"{hashlib.md5(self.server.content).hexdigest()}"'
        start, wanted = 0, self.headers.get("Range", "")
        same = fault == "changes, careless" or self.headers.get("If-Range") == mark
        if wanted and same and fault != "ignores ranges":
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if self.server.etag:
            self.send_header("ETag", mark)
        body = content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault in {"cuts", "stalls"}:
            body = body[: len(body) // 2]
        self.wfile.write(body)
        if fault == "stalls":
            self.wfile.flush()
            self.server.closing.wait(30)

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", self.server.url("log-in"))
            self.server.faults.insert(0, "log-in page")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


_ANSWERS = {
    "busy": (503, "text/plain", b"come again"),
    "quota page": (200, "text/html; charset=utf-8", QUOTA),
    "page under another name": (200, "application/zip", QUOTA),
    "log-in page": (200, "text/html", LOG_IN),
    "/elsewhere": (302, "text/plain", b""),
    "/gone": (404, "text/plain", b"no"),
    "/locked": (401, "text/plain", b"no"),
}


@contextmanager
def serving(content: bytes) -> Iterator[Server]:
    """The server, until the end of the block."""
    with Server(content) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
