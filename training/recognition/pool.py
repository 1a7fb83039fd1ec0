"""A seed in; pool shards out: generated pictures as the squares that the Rust feature filter makes of them.

Each producer is a process with a filter of its own. A shard is an .npz file of `SHARD` samples: `features` uint8
(n, 48, 48), `labels` int16 (n,) with -1 for none of the labels, `origins` int16 (n,), the drawers, 0 for none.
"""

import struct
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro
from program import features

from .arrays import Picture, Squares
from .samples import Maker

SHARD = 10_000


class Filter:
    """The Rust feature filter as a child process: pictures in, ink squares out, in the same order.

    `command`: another filter than the program's; `side`: pixels of a square's side.
    """

    def __init__(self, command: Sequence[str] = (), side: int = 48) -> None:
        self.side = side
        command = command or features("pictures")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the feature filter has no pipes")
        self.pictures, self.replies = self.process.stdin, self.process.stdout

    def send(self, pixels: Picture) -> None:
        """Writes one picture: width and height as little-endian u32, then its RGB bytes."""
        height, width = pixels.shape[:2]
        self.pictures.write(struct.pack("<II", width, height) + pixels.tobytes())

    def receive(self) -> Squares | None:
        """The next square (side, side), or None when the filter found no ink in the picture."""
        reply = self.replies.read(1 + self.side * self.side)
        if len(reply) != 1 + self.side * self.side:
            raise RuntimeError("the feature filter stopped")
        if reply[0]:
            return None
        return np.frombuffer(reply[1:], np.uint8).reshape(self.side, self.side)

    def features(self, images: Sequence[Picture]) -> list[Squares | None]:
        """The square of each picture, in order. A thread sends while this one reads, so that no pipe fills up."""

        def feed() -> None:
            for image in images:
                self.send(np.ascontiguousarray(image))
            self.pictures.flush()

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        replies = [self.receive() for _ in images]
        feeder.join()
        return replies

    def close(self) -> None:
        """Ends the process and waits for it."""
        self.pictures.close()
        self.process.wait()


def main(data: Path, model: str, out: Path, shards: int = 30, seed: int = 1) -> None:
    """Makes a pool, each shard from a seed of its own."""
    maker = Maker(data, model)
    filter_ = Filter()
    out.mkdir(parents=True, exist_ok=True)
    for shard in range(shards):
        rng = np.random.default_rng([seed, shard])
        samples: list[tuple[int, int]] = []
        kept: list[Squares] = []
        missed = 0
        while len(kept) < SHARD:
            batch = [maker.sample(rng) for _ in range(200)]
            for sample, square in zip(batch, filter_.features([s.pixels for s in batch]), strict=True):
                if square is None:
                    missed += 1
                    continue
                samples.append((sample.label, sample.origin))
                kept.append(square)
        rows = np.array(samples[:SHARD], np.int16)
        path = out / f"{model}-{seed}-{shard:03}.npz"
        np.savez(path.with_suffix(".part.npz"), features=np.stack(kept[:SHARD]), labels=rows[:, 0], origins=rows[:, 1])
        path.with_suffix(".part.npz").rename(path)
        print(f"{path.name}: {SHARD} samples, {missed} without ink", flush=True)
    filter_.close()


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
