"""A program that runs and serves its metrics, for tests: prints the address, then runs until its input ends."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

import msvm as ms


class Metrics(BaseHTTPRequestHandler):
    """Serves what a monitor serves at /metrics."""

    def do_GET(self):
        body = ms.vm.metrics().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve():
    """HOST:PORT of the monitor, or of a server of this file in builds without one."""
    if start := getattr(ms.vm, "start_monitor", None):
        serve.monitor = start(address="127.0.0.1:0")
        return serve.monitor.url.split("//")[1].split("/")[0].rstrip("/")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Metrics)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"127.0.0.1:{server.server_port}"


@ms.jit
def watched(x):
    return ms.ops.tanh(ms.ops.matmul(x, x)) + x


def main():
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    x = ms.Tensor(np.ones((8, 8), np.float32))
    watched(x)
    print(serve(), flush=True)
    while not stop.wait(0.005):
        watched(x)


main()
