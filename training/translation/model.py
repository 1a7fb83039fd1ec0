"""The network: M2M100 of transformers with small sizes, one network for both directions."""

from pathlib import Path
from typing import NamedTuple

import learning
import torch
from transformers import M2M100Config, M2M100ForConditionalGeneration

from .tokeniser import PAD

POSITIONS = 512


class Sizes(NamedTuple):
    """The sizes of a network beside its vocabulary."""

    width: int = 384
    heads: int = 6
    encoder: int = 6
    decoder: int = 2
    inner: int = 1024


SIZES = Sizes()
TEACHER = Sizes(width=512, heads=8, encoder=6, decoder=4, inner=2048)
TAUGHT = 0.6


def network(vocabulary: int, dropout: float = 0.15, sizes: Sizes = SIZES) -> M2M100ForConditionalGeneration:
    """The network of so many pieces, freshly initialised.

    Embeddings have deviation d^-1/2: the network multiplies them by d^1/2, and then they are as large as the positions.
    The special tokens have the ids that M2M100's own configuration gives them.
    """
    config = M2M100Config(
        vocab_size=vocabulary,
        d_model=sizes.width,
        encoder_layers=sizes.encoder,
        decoder_layers=sizes.decoder,
        encoder_attention_heads=sizes.heads,
        decoder_attention_heads=sizes.heads,
        encoder_ffn_dim=sizes.inner,
        decoder_ffn_dim=sizes.inner,
        max_position_embeddings=POSITIONS,
        dropout=dropout,
        attention_dropout=0.0,
        encoder_layerdrop=0.0,
        decoder_layerdrop=0.0,
    )
    # On a processor the backward pass of sdpa takes twice the time of plain products.
    config._attn_implementation = "sdpa" if torch.cuda.is_available() else "eager"
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


def logits(
    net: M2M100ForConditionalGeneration, source: torch.Tensor, target: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits of all pieces, f32 [tokens, pieces], and the pieces of the target behind the first, without padding.

    `source`, `target`: i64 [B, S] and [B, T], padded; a target is `</s> <language> pieces </s>`.
    """
    hidden = net.model(
        input_ids=source, attention_mask=(source != PAD).long(), decoder_input_ids=target[:, :-1], use_cache=False
    ).last_hidden_state
    labels = target[:, 1:]
    return net.lm_head(hidden[labels != PAD]).float(), labels[labels != PAD]


def loss(
    net: M2M100ForConditionalGeneration,
    source: torch.Tensor,
    target: torch.Tensor,
    smoothing: float = 0,
    teacher: M2M100ForConditionalGeneration | None = None,
) -> tuple[torch.Tensor, int]:
    """Mean cross entropy in nats a token (f32 []), and the number of tokens it is over.

    `smoothing` is the label smoothing. With a teacher, the share `TAUGHT` is the cross entropy with its distribution
    (word-level distillation; Kim and Rush, 2016).
    """
    found, labels = logits(net, source, target)
    value = torch.nn.functional.cross_entropy(found, labels, label_smoothing=smoothing)
    if teacher is not None:
        with torch.no_grad():
            wanted = logits(teacher, source, target)[0].softmax(-1)
        value = (1 - TAUGHT) * value + TAUGHT * torch.nn.functional.cross_entropy(found, wanted)
    return value, len(labels)
