"""Makes pictures, runs them through the Rust feature filter, and stores what comes back.

Each producer is a process with its own filter; it writes shards of `SHARD` samples:
`features` uint8 (n, SIDE, SIDE), `labels` int16 (-1 = no character), `origins` int16 (n, 2) (drawers).
"""

import argparse
import shlex
import struct
import subprocess
import threading
from multiprocessing import Process
from pathlib import Path

import numpy as np

from .samples import Maker

SHARD = 10_000
COMMAND = "akhar models features --stream"


class Filter:
    """The feature filter as a child process."""

    def __init__(self, command=COMMAND, side=48):
        self.side = side
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, pixels):
        height, width = pixels.shape[:2]
        self.process.stdin.write(struct.pack("<II", width, height) + pixels.tobytes())

    def receive(self):
        """uint8 (side, side), or None when the filter found no ink."""
        reply = self.process.stdout.read(1 + self.side * self.side)
        if len(reply) != 1 + self.side * self.side:
            raise RuntimeError("the feature filter stopped")
        if reply[0]:
            return None
        return np.frombuffer(reply[1:], np.uint8).reshape(self.side, self.side)

    def features(self, images):
        """All images' features in order."""

        def feed():
            for image in images:
                self.send(np.ascontiguousarray(image))
            self.process.stdin.flush()

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        replies = [self.receive() for _ in images]
        feeder.join()
        return replies

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def produce(arguments, producer):
    maker = Maker(Path(arguments.data), arguments.model, arguments.nothings)
    filter_ = Filter(arguments.features_command)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    shards = range(producer, arguments.shards, arguments.producers)
    for shard in shards:
        rng = np.random.default_rng([arguments.seed, shard])
        samples, kept, missed = [], [], 0
        while len(kept) < SHARD:
            batch = [maker.sample(rng) for _ in range(200)]
            for sample, square in zip(batch, filter_.features([s.pixels for s in batch])):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", required=True, choices=["digits-pa", "letters-pa"])
    parser.add_argument("--out", required=True)
    parser.add_argument("--nothings", type=float, default=0.05, help="share of pictures that are none of the labels")
    parser.add_argument("--shards", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--producers", type=int, default=1)
    parser.add_argument("--features-command", default=COMMAND)
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
