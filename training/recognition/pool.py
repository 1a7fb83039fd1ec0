"""A seed in; pool shards out: generated pictures as the squares that the Rust feature filter makes of them.

Each producer is a process with a filter of its own. A shard is an .npz file of `SHARD` samples: `features` uint8
(n, 48, 48), `labels` int16 (n,) with -1 for none of the labels, `origins` int16 (n, 2), the drawers, 0 for none.
"""

import argparse
import struct
import subprocess
import threading
from collections.abc import Sequence
from multiprocessing import Process
from pathlib import Path

import numpy as np
from program import features

from .arrays import Picture, Squares
from .labels import SETS
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


def produce(arguments: argparse.Namespace, producer: int) -> None:
    """Writes every shard whose number is `producer` modulo `arguments.producers`, each from a seed of its own."""
    maker = Maker(Path(arguments.data), arguments.model, arguments.nothings)
    filter_ = Filter()
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    shards = range(producer, arguments.shards, arguments.producers)
    for shard in shards:
        rng = np.random.default_rng([arguments.seed, shard])
        samples: list[tuple[int, int, int]] = []
        kept: list[Squares] = []
        missed = 0
        while len(kept) < SHARD:
            batch = [maker.sample(rng) for _ in range(200)]
            for sample, square in zip(batch, filter_.features([s.pixels for s in batch]), strict=True):
                if square is None:
                    missed += 1
                    continue
                samples.append((sample.label, *sample.origins))
                kept.append(square)
        rows = np.array(samples[:SHARD], np.int16)
        path = out / f"{arguments.model}-{arguments.seed}-{shard:03}.npz"
        np.savez(path.with_suffix(".part.npz"), features=np.stack(kept[:SHARD]), labels=rows[:, 0], origins=rows[:, 1:])
        path.with_suffix(".part.npz").rename(path)
        print(f"{path.name}: {SHARD} samples, {missed} without ink", flush=True)
    filter_.close()


def main() -> None:
    """Makes a pool from the command line, in `--producers` processes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", required=True, choices=list(SETS))
    parser.add_argument("--out", required=True)
    parser.add_argument("--nothings", type=float, default=0.05, help="share of pictures that are none of the labels")
    parser.add_argument("--shards", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--producers", type=int, default=1)
    arguments = parser.parse_args()
    processes = [Process(target=produce, args=(arguments, k)) for k in range(arguments.producers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
