//! How models are run: the files of each layout, and the inputs and outputs of its graphs.

use serde::{Deserialize, Serialize};

/// How a model is run: the names and shapes of its inputs and outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `ink` f32 [N, 1, SIDE, SIDE] -> `probabilities` f32 [N, labels].
    ImageClassifier,
    /// `glyph` i64 `[N]`, `style` f32 [1, W], `variation` f32 [N, V] -> `points` f32 [N, S, P, 2],
    /// `present` bool [N, S], `head` f32 [N, H, 2]. See [`crate::handwriting`].
    GlyphStrokes,
    /// A CTC model as NeMo exports it: `audio_signal` f32 [B, mels, T], `length` i64 `[B]` -> `logprobs`
    /// f32 [B, T', units]. Its files: `model`, `vocab`, `config`. See [`crate::speech`].
    NemoCtc,
    /// `IndicConformer` with 600 M parameters, for 22 languages, in two graphs: `features` f32 [1, mels, T], `features_lens`
    /// i64 `[1]` -> `encoded`, `encoded_lens` i64 `[1]`, and `encoded` -> `logits` f32 [1, T', 5633]. Its files: `encoder`,
    /// `head`, `vocab`, `config`.
    IndicConformer,
    /// A CTC model on Whisper's encoder, without padding to 30 s: `features` f32 [1, mels, T] -> `logprobs` f32
    /// [1, T', units]. Its files are those of [`Self::NemoCtc`].
    WhisperCtc,
    /// Omnilingual ASR's CTC models as sherpa-onnx exports them: `x` f32 [1, samples at 16 kHz], of zero mean and unit
    /// variance -> `logits` f32 [1, T, units], a frame each 20 ms. Its files: `model`, `vocab` (`tokens.txt`).
    Omnilingual,
    /// A transducer with durations (TDT) as NeMo exports it. Its files: `encoder`, `decoder` (with the joint
    /// network), `vocab`, `config`.
    NemoTdt,
    /// Whisper as Optimum exports it. Its files: `encoder`, `decoder` (merged), `tokenizer`, `generation`
    /// (`generation_config.json`). The manifest also has `languages`.
    Whisper,
    /// Moonshine as Optimum exports it. Its files: `encoder` (of samples at 16 kHz), `decoder` (merged),
    /// `tokenizer` (`tokenizer.json` or `tokenizer.bin`). If the manifest has `[alignment]`, also the files of a
    /// [`Self::NemoCtc`] model: `aligner-model`, `aligner-vocab`, `aligner-config`.
    Moonshine,
    /// M2M100, which translates between several languages, as Optimum exports it. Its files: `encoder`,
    /// `decoder` (merged), `tokenizer`. The manifest also has `languages`. See [`crate::seq2seq`]. If the tokeniser has
    /// placeholders, the file `names` can hold names that are copied: rows of English, Panjabi and `both`, `en` or
    /// `pa` (the language they are found in), with tabs between.
    M2m100,
    /// `IndicTrans2`, which translates from the manifest's `language` into the other one. Its files: `encoder`, `decoder`
    /// (the first step), `decoder-with-past` (the later ones), `source-tokenizer`, `target-tokenizer`. See
    /// [`crate::seq2seq`].
    #[serde(rename = "indictrans2")]
    IndicTrans2,
    /// A tagger of marks: `grams` i32 [W, 24], `pauses` f32 `[W]` -> `scores` f32 [W, 4]. See [`crate::punctuation`].
    WordTagger,
}

impl Layout {
    /// The roles of the files that every model of the layout has. A graph's weights may be in a file beside it.
    pub(crate) const fn roles(self) -> &'static [&'static str] {
        match self {
            Self::ImageClassifier | Self::GlyphStrokes | Self::WordTagger => &["model"],
            Self::NemoCtc | Self::WhisperCtc => &["model", "vocab", "config"],
            Self::Omnilingual => &["model", "vocab"],
            Self::IndicConformer => &["encoder", "head", "vocab", "config"],
            Self::NemoTdt => &["encoder", "decoder", "vocab", "config"],
            Self::Whisper => &["encoder", "decoder", "tokenizer", "generation"],
            Self::Moonshine | Self::M2m100 => &["encoder", "decoder", "tokenizer"],
            Self::IndicTrans2 => {
                &["encoder", "decoder", "decoder-with-past", "source-tokenizer", "target-tokenizer"]
            }
        }
    }
}

impl std::fmt::Display for Layout {
    /// Writes the layout's name as in a manifest.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Serialize::serialize(self, f)
    }
}
