"""LitServe with the digit model: POST /predict, multipart field `file`.

Settings: batches of 16 within 2 ms; accelerator cpu with one worker a core (the docstring of LitServer: "for CPU,
set to the number of cores"), as many HTTP servers as workers (its default), fast_queue (for more than 100
requests/s), no access log. `PORT` in the environment is the port to listen on.
"""

import os

import digits
import litserve as ls
import numpy as np
from fastapi import Request, Response
from numpy.typing import NDArray


class Digits(ls.LitAPI):
    """Decoding and preparing happen in the worker, as in LitServe's own image examples.

    LitServe makes its endpoint from the annotations of `decode_request` and `encode_response`; these are its defaults.
    """

    def setup(self, device: str) -> None:
        """Opens a session in the worker; `device` is always the processor."""
        del device
        self.session = digits.open_session()

    def decode_request(self, request: Request) -> NDArray[np.float32]:
        """The ink coverage of the picture in the field `file`."""
        return digits.decode(request["file"].file.read())

    def batch(self, inputs: list[NDArray[np.float32]]) -> list[NDArray[np.float32]]:
        """The squares as they are: `digits.classify` stacks them."""
        return inputs

    def predict(self, squares: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        """Scores [n, 10]."""
        return digits.classify(self.session, squares)

    def unbatch(self, output: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """The scores of each square."""
        return list(output)

    def encode_response(self, output: NDArray[np.float32]) -> Response:
        """The JSON answer."""
        return digits.answer(output)


if __name__ == "__main__":
    n_cores = len(os.sched_getaffinity(0))
    api = Digits(max_batch_size=16, batch_timeout=0.002)
    server = ls.LitServer(api, accelerator="cpu", devices=1, workers_per_device=n_cores, fast_queue=True)
    server.run(
        host="127.0.0.1",
        port=int(os.environ["PORT"]),
        generate_client_file=False,
        log_level="warning",
        access_log=False,
    )
