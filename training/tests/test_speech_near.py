"""What holds a network near the one that its training starts from, and who is in a training; needs PyTorch."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from speech.data.batches import Row  # noqa: E402
from speech.sounds import features  # noqa: E402
from speech.whisper_ctc import near  # noqa: E402
from speech.whisper_ctc.model import SHIPPED, Recogniser, heard  # noqa: E402


def networks() -> tuple[Recogniser, Recogniser]:
    """A small network and a copy, of which the top layers are trained."""
    torch.manual_seed(1)
    net, first = Recogniser(0, 5), Recogniser(0, 5)
    first.load_state_dict(net.state_dict())
    return net, first


def test_a_pull_moves_trained_weights_a_share_of_the_way_back() -> None:
    net, first = networks()
    weights = near.Weights(net, first, 0.25)
    with torch.no_grad():
        for p in net.parameters():
            p.add_(1.0)
    weights.pull(0.5)
    trained = {id(p) for _, parameters in net.trained() for p in parameters}
    for p, own in zip(net.parameters(), first.parameters(), strict=True):
        assert torch.allclose(p - own, torch.tensor(0.875 if id(p) in trained else 1.0), atol=1e-5)


def test_outputs_that_have_not_moved_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "normalised", lambda values, _: values)
    net, first = networks()
    rng = np.random.default_rng(2)
    rows = [Row(rng.normal(size=(n, 80)).astype(np.float16), 0, n, [], {}) for n in (30, 41, 1000)]
    outputs = near.Outputs(first, rows, 1)
    assert [one.shape for one in outputs.outputs] == [(15, 512), (21, 512), (400, 512)]
    assert float(outputs.loss(net).detach()) < 1e-8
    with torch.no_grad():
        net.encoder.norm.bias.add_(1.0)
    assert float(outputs.loss(net).detach()) == pytest.approx(1.0, rel=1e-3)


def test_a_checkpoint_says_who_is_in_its_training(tmp_path: Path) -> None:
    assert heard("speech-pa.onnx") == list(SHIPPED)
    torch.save({"heard": ["M01"]}, tmp_path / "a.pt")
    torch.save({}, tmp_path / "old.pt")
    assert heard(tmp_path / "a.pt") == ["M01"]
    assert heard(tmp_path / "old.pt") == list(SHIPPED)
