"""The vocabulary that both languages share: learnt by SentencePiece (Unigram), written as `tokenizer.json`.

    python -m translation.tokeniser --data DATA --pairs WORK/pairs --out WORK/tokens

Training segments with `WORK/tokens/spm.model`; the service reads `tokenizer.json`. Ids 0 to 3 are `<s>`, `<pad>`,
`</s>` and `<unk>`; the pieces follow; then the placeholders, each as a word's beginning and within a word, and the
reserved characters; the two language tokens are last. A placeholder is in no other piece, so it always is a token.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sentencepiece
import tyro
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from . import corpus, placeholders, prepared

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
BOS, PAD, EOS, UNK = range(4)
LANGUAGES = {"en": "eng_Latn", "pa": "pan_Guru"}
PIECES = 8000
PROTOCOL: Any = sentencepiece_model_pb2  # its classes are made when it is imported


def learn(texts: Iterable[str], folder: str | Path, pieces: int = PIECES) -> None:
    """Writes `spm.model` in `folder`, of `pieces` pieces with the special ones.

    Each digit is a piece of its own, so that numbers can be copied. Characters without a piece become bytes.
    """
    text = Path(folder) / "text.txt"
    text.write_text("\n".join(texts) + "\n")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(Path(folder) / "spm"),
        vocab_size=pieces,
        model_type="unigram",
        character_coverage=0.99995,
        byte_fallback=True,
        split_digits=True,
        normalization_rule_name="identity",
        add_dummy_prefix=True,
        remove_extra_whitespaces=True,
        bos_id=BOS,
        pad_id=PAD,
        eos_id=EOS,
        unk_id=UNK,
        bos_piece="<s>",
        pad_piece="<pad>",
        eos_piece="</s>",
        unk_piece="<unk>",
        num_threads=1,
        shuffle_input_sentence=True,
        input_sentence_size=200000,
        max_sentence_length=2000,
        minloglevel=1,
    )
    text.unlink()
    widened(Path(folder) / "spm.model")


def extra() -> list[str]:
    """The pieces that `learn` adds: each placeholder and reserved character behind a space and without."""
    codes = [first + k for first in placeholders.FIRST.values() for k in range(placeholders.LIMIT)]
    return [space + chr(code) for code in (*codes, *placeholders.RESERVED) for space in ("▁", "")]


def widened(path: Path) -> None:
    """Adds the pieces of `extra` to a model file, with scores that make them cheaper than any other piece."""
    proto = PROTOCOL.ModelProto()
    proto.ParseFromString(path.read_bytes())
    proto.pieces.extend(proto.SentencePiece(piece=piece, score=-1.0) for piece in extra())
    path.write_bytes(proto.SerializeToString())


def written(folder: str | Path) -> Tokenizer:
    """The tokeniser of `spm.model`, with the same pieces and scores; also written beside it as `tokenizer.json`."""
    spm = sentencepiece.SentencePieceProcessor(model_file=str(Path(folder) / "spm.model"))
    pieces = [(spm.id_to_piece(k), spm.get_score(k)) for k in range(spm.get_piece_size())]
    tokeniser = Tokenizer(models.Unigram(pieces, unk_id=UNK, byte_fallback=True))
    tokeniser.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    )
    tokeniser.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokeniser.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="always")])
    tokeniser.add_special_tokens(
        [AddedToken(name, special=True, normalized=False) for name in (*SPECIAL, *LANGUAGES.values())]
    )
    ids = [(name, tokeniser.token_to_id(name)) for name in ("</s>", *LANGUAGES.values())]
    tokeniser.post_processor = processors.TemplateProcessing(
        single="eng_Latn $A </s>", pair="eng_Latn $A $B </s>", special_tokens=ids
    )
    tokeniser.save(str(Path(folder) / "tokenizer.json"))
    return tokeniser


def without(text: str) -> str:
    """The text without what placeholders stand for, which would waste pieces."""
    language = "pa" if corpus.GURMUKHI.search(text) else "en"
    masked, values = placeholders.mask(text, language)
    return " ".join("".join(" " if c in values else c for c in masked).split())


def main(data: Path, pairs: Path, out: Path) -> None:
    """Learns the vocabulary of the training part and reports how many texts both files segment alike."""
    out.mkdir(parents=True, exist_ok=True)
    parts = prepared.read(pairs)
    mono = corpus.single(data, parts)
    texts = [text for en, pa, _ in parts["train"] for text in (en, pa)] * 2
    texts += [en.lower() for en, _, _ in parts["train"]]
    # About as much text of either language.
    texts += mono["pa"] * 2 + mono["en"][:30000]
    texts = [without(text) for text in texts]
    learn(texts, out)
    tokeniser = written(out)
    spm = sentencepiece.SentencePieceProcessor(model_file=str(out / "spm.model"))
    same = [tokeniser.encode(t, add_special_tokens=False).ids == spm.encode(t) for t in texts[:20000]]
    print(f"{tokeniser.get_vocab_size()} tokens; {sum(same)} of {len(same)} texts segmented alike")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
