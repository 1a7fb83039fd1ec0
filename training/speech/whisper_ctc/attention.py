"""Trains Whisper's own decoder to write Gurmukhi units from the frozen encoder's outputs, to compare with CTC.

    python -m speech.whisper_ctc.attention --shards WORK/train=1 --steps 2000 --out WORK/attention.pt \
        --dev WORK/eval/F04 WORK/eval/M01 WORK/eval/clean WORK/eval/spontaneous

Run `encoded --layer 6` on the shards first. The vocabulary is CTC's units and one token that begins and ends a text;
its embedding is new, everything else is Whisper's. The same command continues from its last checkpoint.
"""

import argparse
import time
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from .. import checkpoint, metrics, units
from ..train import ahead, weighted
from . import batches, pretrained
from .decoder import PLACES, Decoder
from .encoded import groups
from .encoder import LAYERS
from .model import UNITS
from .train import rate

EDGE = UNITS  # begins and ends a text
PADDING = -100  # targets that are not counted
SMOOTHING = 0.1
LETTERS_A_SECOND = 22  # a longer text is cut: there the decoder repeats itself


def started() -> Decoder:
    """Return Whisper base's decoder with an untrained embedding for the units."""
    whole = pretrained.decoder()
    net = Decoder(UNITS + 1)
    kept = {name: value for name, value in whole.state_dict().items() if not name.startswith("embedding")}
    net.load_state_dict(kept, strict=False)
    torch.nn.init.normal_(net.embedding.weight, std=float(whole.embedding.weight.detach().std()))
    return net


def seen(lengths: Tensor, frames: int) -> Tensor:
    """Return (B, 1, 1, T), True for the encoder's frames inside each utterance; lengths: (B,)."""
    return (torch.arange(frames)[None] < lengths[:, None])[:, None, None]


def sequences(flat: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Return the decoder's inputs (B, N), which begin with EDGE, and targets (B, N), which end with it.

    flat: the units of all texts; counts: (B,), how many each text has.
    """
    longest = int(counts.max()) + 1
    given = torch.full((len(counts), longest), EDGE)
    wanted = torch.full((len(counts), longest), PADDING)
    for k, row in enumerate(flat.split(counts.tolist())):
        given[k, 1 : len(row) + 1] = row
        wanted[k, : len(row)], wanted[k, len(row)] = row, EDGE
    return given, wanted


@torch.no_grad()
def read(net: Decoder, rows: list[batches.Row]) -> list[str]:
    """Return the greedy text of each utterance."""
    out = [""] * len(rows)
    for group in groups([row.frames for row in rows], 6000):
        encoded, lengths = batches.padded([rows[k].values() for k in group], LAYERS)
        limit = min(PLACES - 1, int(lengths.max()) * LETTERS_A_SECOND // 50 + 4)
        said = torch.full((len(group), 1), EDGE)
        ended = torch.zeros(len(group), dtype=torch.bool)
        while said.shape[1] <= limit and not bool(ended.all()):
            best = net(said, encoded, seen(lengths, encoded.shape[1]))[:, -1].argmax(1)
            best = torch.where(ended, EDGE, best)
            ended |= best == EDGE
            said = torch.cat([said, best[:, None]], 1)
        for k, row in zip(group, said[:, 1:].tolist(), strict=True):
            out[k] = units.decode(row[: row.index(EDGE)] if EDGE in row else row, "pa")
    return out


def judged(net: Decoder, folders: list[str], most: int) -> str:
    """Return greedy error rates on at most about `most` utterances of each folder, with and without spaces."""
    lines = []
    for folder in folders:
        rows = [row for row in batches.rows(folder, LAYERS) if row.units]
        rows = rows[:: max(1, len(rows) // most)]
        whole, close = metrics.Errors(), metrics.Errors()
        for row, text in zip(rows, read(net, rows), strict=True):
            whole.add(row.item["text"], text)
            close.add(row.item["text"].replace(" ", ""), text.replace(" ", ""))
        lines.append(f"    {Path(folder).name}: {whole.line()}, CER without spaces {100 * close.cer:.1f} %")
    return "\n".join(lines)


def learn(net: Decoder, batch: batches.Batch) -> Tensor:
    """Return the cross-entropy in nats per unit."""
    encoded, lengths, (flat, counts) = batch
    given, wanted = sequences(flat, counts)
    with torch.autocast("cpu", torch.bfloat16):
        scores = net(given, encoded, seen(lengths, encoded.shape[1]))
    return F.cross_entropy(
        scores.float().flatten(0, 1), wanted.flatten(), ignore_index=PADDING, label_smoothing=SMOOTHING
    )


def parsed() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shards", nargs="+", required=True, metavar="DIR=WEIGHT")
    parser.add_argument("--dev", nargs="*", default=[], metavar="DIR")
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--lr", type=float, default=1.5e-4)
    parser.add_argument("--warm-up", type=int, default=100)
    parser.add_argument("--frames", type=int, default=2400, help="in a batch, of 20 ms")
    parser.add_argument("--strength", type=float, default=0.5)
    parser.add_argument("--save-minutes", type=float, default=4)
    return parser.parse_args()


def main() -> None:
    """Train as the command line asks, on one thread."""
    arguments = parsed()
    torch.set_num_threads(1)
    state = checkpoint.load(arguments.out) if Path(arguments.out).exists() else {}
    net, step = started(), state.get("step", 0)
    optimise = torch.optim.AdamW(net.parameters(), betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    if state:
        net.load_state_dict(state["net"])
        optimise.load_state_dict(state["optimiser"])
    source = batches.Batches(weighted(arguments.shards), LAYERS, [1, step], arguments.frames, arguments.strength)
    stream, saved = ahead(source.endless()), time.time()
    losses: list[float] = []
    while step < arguments.steps:
        loss = learn(net, next(stream))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for group in optimise.param_groups:
            group["lr"] = arguments.lr * rate(step, arguments.steps, arguments.warm_up)
        optimise.step()
        optimise.zero_grad()
        step += 1
        losses.append(float(loss.detach()))
        if step == arguments.steps or time.time() - saved > arguments.save_minutes * 60:
            checkpoint.write(arguments.out, {"net": net.state_dict(), "optimiser": optimise.state_dict(), "step": step})
            print(
                f"{time.strftime('%H:%M:%S')} step {step} loss {sum(losses) / len(losses):.3f}\n"
                f"{judged(net, arguments.dev, 20)}",
                flush=True,
            )
            saved, losses = time.time(), []


if __name__ == "__main__":
    main()
