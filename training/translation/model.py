"""The network: M2M100 of transformers with small sizes, one network for both directions."""

from pathlib import Path
from typing import NamedTuple

import learning
import torch
from transformers import M2M100Config, M2M100ForConditionalGeneration

from .tokeniser import BOS, EOS, PAD

POSITIONS = 512


class Sizes(NamedTuple):
    """The sizes of a network beside its vocabulary."""

    width: int = 384
    heads: int = 6
    encoder: int = 6
    decoder: int = 2
    inner: int = 1024


SIZES = Sizes()


def configuration(vocabulary: int, dropout: float = 0.15, sizes: Sizes = SIZES) -> M2M100Config:
    """The configuration, for so many pieces."""
    return M2M100Config(
        vocab_size=vocabulary,
        d_model=sizes.width,
        encoder_layers=sizes.encoder,
        decoder_layers=sizes.decoder,
        encoder_attention_heads=sizes.heads,
        decoder_attention_heads=sizes.heads,
        encoder_ffn_dim=sizes.inner,
        decoder_ffn_dim=sizes.inner,
        max_position_embeddings=POSITIONS,
        activation_function="relu",
        scale_embedding=True,
        dropout=dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        encoder_layerdrop=0.0,
        decoder_layerdrop=0.0,
        bos_token_id=BOS,
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=EOS,
        tie_word_embeddings=True,
    )


def network(vocabulary: int, dropout: float = 0.15, sizes: Sizes = SIZES) -> M2M100ForConditionalGeneration:
    """The network, freshly initialised.

    Embeddings have deviation d^-1/2: the network multiplies them by d^1/2, and then they are as large as the positions.
    """
    config = configuration(vocabulary, dropout, sizes)
    config._attn_implementation = "eager"  # on a processor its backward pass takes half the time of sdpa's
    net = M2M100ForConditionalGeneration(config)
    for module in net.modules():
        if isinstance(module, torch.nn.Linear) and module is not net.lm_head:
            torch.nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
    torch.nn.init.normal_(net.model.shared.weight, std=config.d_model**-0.5)
    return net


def optimiser(net: M2M100ForConditionalGeneration) -> learning.Together:
    """Muon for the matrices of a network but its embedding, Adam for everything else."""
    shared = net.model.shared.weight
    matrices = [p for p in net.parameters() if p.ndim == 2 and p is not shared]
    rest = [p for p in net.parameters() if p.ndim != 2]
    return learning.Together(
        learning.Muon(matrices, learning.newton_schulz, 0.01), torch.optim.Adam([shared, *rest], betas=(0.9, 0.98))
    )


def averaged(path: str | Path) -> M2M100ForConditionalGeneration:
    """The network of a checkpoint with its averaged weights, ready to translate."""
    state = learning.load(path)
    net = network(state["net"]["model.shared.weight"].shape[0])
    net.load_state_dict({**state["net"], **state["average"]})
    return net.eval()


def loss(
    net: M2M100ForConditionalGeneration, source: torch.Tensor, target: torch.Tensor, smoothing: float, rivals: int = 0
) -> tuple[torch.Tensor, int]:
    """Mean cross entropy in nats a token (f32 []), and the number of tokens it is over.

    `source`, `target`: i64 [B, S] and [B, T], padded; a target is `</s> <language> pieces </s>`. `smoothing` is the
    label smoothing. With `rivals`, the softmax is over the batch's own pieces and about so many drawn ones instead of
    all. That saves a sixth of a step; the last steps of a training should use all.
    """
    hidden = net.model(
        input_ids=source, attention_mask=(source != PAD).long(), decoder_input_ids=target[:, :-1], use_cache=False
    ).last_hidden_state
    labels = target[:, 1:]
    real = labels != PAD
    labels, pieces = labels[real], net.lm_head.weight
    if rivals:
        chosen, labels = torch.cat([labels, torch.randint(len(pieces), (rivals,))]).unique(return_inverse=True)
        labels, pieces = labels[: int(real.sum())], pieces[chosen]
    logits = torch.nn.functional.linear(hidden[real], pieces).float()
    return torch.nn.functional.cross_entropy(logits, labels, label_smoothing=smoothing), len(labels)
