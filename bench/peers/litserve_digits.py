"""LitServe with the digit model: POST /predict, multipart field `file`.

Settings: batches of 16 within 2 ms; accelerator cpu with one worker a core (the docstring of LitServer: "for CPU,
set to the number of cores"), as many HTTP servers as workers (its default), fast_queue (for more than 100
requests/s), no access log.
"""

import os

import digits
import litserve as ls


class Digits(ls.LitAPI):
    """Decoding and preparing happen in the worker, as in LitServe's own image examples."""

    def setup(self, device):
        self.session = digits.open_session()

    def decode_request(self, request):
        return digits.decode(request["file"].file.read())

    def batch(self, inputs):
        return inputs

    def predict(self, squares):
        return digits.classify(self.session, squares)

    def unbatch(self, output):
        return list(output)

    def encode_response(self, output):
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
