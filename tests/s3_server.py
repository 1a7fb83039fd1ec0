"""Runs an S3 server (moto) on a free port, creates the bucket `akhar`, and prints the address.

Objects are kept in memory. The server ends when standard input is closed, and so with the process that started it.
"""

import logging
import sys
import urllib.request

from moto.server import ThreadedMotoServer

BUCKET = "akhar"


def main() -> None:
    """Serve until standard input ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    request = urllib.request.Request(f"{address}/{BUCKET}", method="PUT")
    with urllib.request.urlopen(request, timeout=30):
        pass
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
