"""The vocabulary that both languages share: learnt by SentencePiece (Unigram), written as `tokenizer.json`.

    python -m translation.tokeniser --data DATA --out WORK/tokens

Training segments with `WORK/tokens/spm.model`; the service reads `tokenizer.json`. Ids 0 to 3 are `<s>`, `<pad>`,
`</s>` and `<unk>`; the pieces follow; the two language tokens are last.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from . import corpus

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
BOS, PAD, EOS, UNK = range(4)
LANGUAGES = {"en": "eng_Latn", "pa": "pan_Guru"}
PIECES = 6000


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


def main() -> None:
    """Learns the vocabulary of the training part and reports how many texts both files segment alike."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    Path(arguments.out).mkdir(parents=True, exist_ok=True)
    parts = corpus.pairs(arguments.data)
    mono = corpus.single(arguments.data, parts)
    texts = [text for en, pa, _ in parts["train"] for text in (en, pa)] * 2
    texts += [en.lower() for en, _, _ in parts["train"]]
    # About as much text of either language.
    texts += mono["pa"] * 2 + mono["en"][:30000]
    learn(texts, arguments.out)
    tokeniser = written(arguments.out)
    spm = sentencepiece.SentencePieceProcessor(model_file=str(Path(arguments.out) / "spm.model"))
    same = [tokeniser.encode(t, add_special_tokens=False).ids == spm.encode(t) for t in texts[:20000]]
    print(f"{tokeniser.get_vocab_size()} tokens; {sum(same)} of {len(same)} texts segmented alike")


if __name__ == "__main__":
    main()
