"""Images in, probabilities out: through the filter and onnxruntime, or through the HTTP service."""

import io
import json
import urllib.error
import urllib.request
import uuid

import numpy as np
from PIL import Image

from .labels import OPERATIONS, SETS
from .pool import Filter


class Local:
    """The Rust feature filter, then the ONNX file (or several, averaged)."""

    def __init__(self, command, paths, threads=1):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.sessions = [onnxruntime.InferenceSession(str(p), options) for p in paths]
        self.filter = Filter(command)

    def read(self, images):
        """(n, labels); a row of zeros where no ink was found."""
        squares = self.filter.features(images)
        n_labels = self.sessions[0].get_outputs()[0].shape[1]
        rows = np.zeros((len(images), n_labels), np.float32)
        found = [k for k, square in enumerate(squares) if square is not None]
        for start in range(0, len(found), 256):
            part = found[start : start + 256]
            ink = np.stack([squares[k] for k in part])[:, None].astype(np.float32) / 255
            rows[part] = np.mean([s.run(None, {"ink": ink})[0] for s in self.sessions], 0)
        return rows


class Served:
    """POST /v1/models/<operation>, one image a request; only the five best labels come back."""

    def __init__(self, url, key, model):
        self.url = f"{url.rstrip('/')}/v1/models/{OPERATIONS[model]}"
        self.key, self.labels = key, SETS[model]

    def read(self, images):
        return np.stack([self.one(image) for image in images])

    def one(self, pixels):
        row = np.zeros(len(self.labels), np.float32)
        request = urllib.request.Request(self.url, method="POST")
        boundary = uuid.uuid4().hex
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
        request.data = self.body(pixels, boundary)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                predictions = json.load(response)["predictions"]
        except urllib.error.HTTPError as error:
            if error.code == 422:  # no ink
                return row
            raise
        for prediction in predictions:
            row[self.labels.index(prediction["label"])] = prediction["score"]
        return row

    def body(self, pixels, boundary):
        content, kind = small_enough(pixels)
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="top-k"\r\n\r\n'
            f"5\r\n--{boundary}\r\nContent-Disposition: form-data; "
            f'name="file"; filename="image.{kind}"\r\nContent-Type: image/{kind}\r\n\r\n'
        )
        return head.encode() + content + f"\r\n--{boundary}--\r\n".encode()


def small_enough(pixels, limit=15 * 1024):
    """PNG when it fits the contract's 15 kB, otherwise the best JPEG that does; grey as one channel."""
    image = Image.fromarray(pixels)
    if (pixels == pixels[..., :1]).all():
        image = image.convert("L")
    for kind, options in [("png", {"optimize": True})] + [
        ("jpeg", {"quality": q, "optimize": True}) for q in (92, 80, 65, 45, 25, 10)
    ]:
        buffer = io.BytesIO()
        image.save(buffer, kind.upper(), **options)
        if buffer.tell() <= limit:
            return buffer.getvalue(), kind
    raise ValueError("the image does not fit 15 kB")
