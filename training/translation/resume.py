"""Makes a checkpoint and the tokeniser's files of an exported model, to train on where nothing else is left.

    python -m translation.resume --weights ../models/weights --out WORK

writes `WORK/translation.pt` and `WORK/tokens`; `translation.train --out WORK/translation.pt` goes on from there. The
weights come from the ONNX files, in half precision; the optimiser begins anew, and the rate rises again. The step and
the number of tokens come from `translation/progress.json`, which `translation.export` writes.
"""

import json
from pathlib import Path

import learning
import tyro

from . import tokeniser
from .model import optimiser
from .weights import restored

PROGRESS = Path(__file__).parent / "progress.json"


def main(weights: Path, out: Path) -> None:
    """Writes the checkpoint, unless there is one."""
    tokeniser.rebuilt(weights, out / "tokens")
    if (out / "translation.pt").exists():
        print(f"{out / 'translation.pt'} is there already and stays as it is")
        return
    net, progress = restored(weights), json.loads(PROGRESS.read_text())
    step = progress["steps"]
    figures = {"step": step, "n_tokens": progress["tokens"], "decay_from": step, "warm_from": step}
    networks = {"net": net.state_dict(), "average": learning.copied(net)}
    learning.write(out / "translation.pt", {**networks, "optimiser": optimiser(net).state_dict(), **figures})
    print(f"{out / 'translation.pt'}: step {progress['steps']}, {progress['tokens'] / 1e6:.2f} M tokens")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
