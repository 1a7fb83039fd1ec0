"""BentoML with the digit model: POST /classify, multipart field `images`.

Settings: one worker a core (the guide on workers: `cpu_count` for CPU-bound services), adaptive batching of at
most 16 with its dispatcher choosing the window, no tracing, no access log, no metrics.
"""

import bentoml
import digits
from PIL.Image import Image as PILImage


@bentoml.service(
    workers="cpu_count",
    traffic={"timeout": 60},
    logging={"access": {"enabled": False}},
    metrics={"enabled": False},
)
class Digits:
    """A session of its own in each worker."""

    def __init__(self) -> None:
        self.session = digits.open_session()

    @bentoml.api(batchable=True, batch_dim=0, max_batch_size=16, max_latency_ms=1000)
    def classify(self, images: list[PILImage]) -> list[dict]:
        """The answers for a batch of pictures, in their order."""
        squares = [digits.prepare(image) for image in images]
        return [digits.answer(scores) for scores in digits.classify(self.session, squares)]
