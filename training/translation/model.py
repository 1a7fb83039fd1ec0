"""The network: transformers' own M2M100, small. About 3.9 million parameters, one file for both directions."""

import torch
from transformers import M2M100Config, M2M100ForConditionalGeneration

from .tokeniser import BOS, EOS, PAD

POSITIONS = 512


def configuration(vocabulary, dropout=0.15):
    return M2M100Config(
        vocab_size=vocabulary,
        d_model=192,
        encoder_layers=4,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=768,
        decoder_ffn_dim=768,
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


def network(vocabulary, dropout=0.15):
    """Freshly initialised: embeddings of deviation d^-1/2, so that scaled they are as large as positions."""
    config = configuration(vocabulary, dropout)
    config._attn_implementation = "sdpa"
    net = M2M100ForConditionalGeneration(config)
    for module in net.modules():
        if isinstance(module, torch.nn.Linear) and module is not net.lm_head:
            torch.nn.init.xavier_uniform_(module.weight)
            torch.nn.init.zeros_(module.bias) if module.bias is not None else None
    torch.nn.init.normal_(net.model.shared.weight, std=config.d_model**-0.5)
    return net


def loss(net, source, target, smoothing, rivals=0):
    """`source`, `target`: i64 [B, S] and [B, T], padded; a target is `</s> <language> pieces </s>`.

    With `rivals`, the softmax is over the batch's own pieces and about so many drawn ones instead of all, which saves a
    sixth of a step; the last steps of a training should do without.

    -> mean cross entropy in nats a token, and how many tokens there were.
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
    logits = torch.nn.functional.linear(hidden[real], pieces)
    return torch.nn.functional.cross_entropy(logits, labels, label_smoothing=smoothing), len(labels)
