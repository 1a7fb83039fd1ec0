//! Runs an encoder and a decoder, as Optimum exports them: from the source to the logits of each next token. A merged
//! decoder is one file for all steps; otherwise there is one for the first step and one for the later ones.
//!
//! The decoder's past key values stay in ONNX Runtime's memory. The first step computes the ones of the
//! source, which are kept for the later ones.

use crate::{
    cast::dimension,
    error::LoadError,
    layout::Layout,
    manifest::Manifest,
    runtime::{Array, RetainedTensor, Runtime, RuntimeError, Session, Tensor},
};

/// A limit above the number of layers of any decoder.
const MAX_LAYERS: usize = 1000;

/// A loaded encoder and decoder.
pub(crate) struct Network {
    encoder: Session,
    /// The decoder, or that of the first step.
    decoder: Session,
    /// The decoder of the later steps, if it is another file.
    decoder_with_past: Option<Session>,
    layers: Vec<Layer>,
    /// The number of heads and the width of a head in the past key values.
    past: [i64; 2],
}

/// The tensor names of a decoder layer's past key values: keys and values of the target, then of the source.
struct Layer {
    past: [String; 4],
    present: [String; 4],
}

/// The state of decoding one batch of encoded sources.
pub(crate) struct DecoderState<'a> {
    network: &'a mut Network,
    hidden: RetainedTensor,
    /// The attention mask of the sources, one row for each: 1 for a token, 0 for padding.
    mask: Vec<i64>,
    n_rows: usize,
    /// The source that each row is of.
    sources: Vec<usize>,
    /// None before the first step; by layer.
    cache: Option<Vec<[RetainedTensor; 4]>>,
}

impl Network {
    pub(crate) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let encoder = runtime.open(&manifest.id, manifest.graph("encoder")?, n_threads)?;
        let decoder = runtime.open(&manifest.id, manifest.graph("decoder")?, n_threads)?;
        let decoder_with_past = match manifest.layout {
            Layout::IndicTrans2 => {
                Some(runtime.open(&manifest.id, manifest.graph("decoder-with-past")?, n_threads)?)
            }
            _ => None,
        };
        let later = decoder_with_past.as_ref().unwrap_or(&decoder);
        let layers: Vec<Layer> =
            (0..MAX_LAYERS).map(Layer::new).take_while(|l| later.input(&l.past[0]).is_some()).collect();
        let shape = layers.first().and_then(|l| later.input(&l.past[0]));
        let past = match shape.as_deref() {
            Some(&[_, heads, _, width]) if heads > 0 && width > 0 => [heads, width],
            other => {
                let what = format!(
                    "the decoder's past_key_values.0.decoder.key has the shape {other:?}, \
                     expected [_, heads, _, width]"
                );
                return Err(decoder.layout_error(what).into());
            }
        };
        Ok(Self { encoder, decoder, decoder_with_past, layers, past })
    }

    /// The number of bands of the encoder's features; `None` if the encoder does not take features.
    pub(crate) fn n_bands(&self) -> Option<usize> {
        self.encoder.input("input_features")?.get(1).and_then(|n| usize::try_from(*n).ok())
    }

    /// Whether the encoder takes samples.
    pub(crate) fn takes_samples(&self) -> bool {
        self.encoder.input("input_values").is_some()
    }

    /// An error in what the model is or says.
    pub(crate) fn unfit(&self, what: String) -> RuntimeError {
        self.decoder.layout_error(what)
    }

    /// Encodes the log-mel features of one window: `values` of the shape `[n_mels, n_frames]` in row-major
    /// order.
    pub(crate) fn encode_features(
        &mut self,
        [n_mels, n_frames]: [usize; 2],
        values: &[f32],
    ) -> Result<DecoderState<'_>, RuntimeError> {
        let shape = [1, dimension(n_mels), dimension(n_frames)];
        let inputs = vec![("input_features", Tensor::F32(&shape, values))];
        let hidden = one(self.encoder.run_retained(inputs, &["last_hidden_state"])?, &self.encoder)?;
        Ok(DecoderState { network: self, hidden, mask: Vec::new(), n_rows: 1, sources: vec![0], cache: None })
    }

    /// Encodes the samples of one window, 16 kHz. The decoder's mask has one value a sample, not one a frame:
    /// its graph subsamples the mask as the encoder does the samples.
    pub(crate) fn encode_samples(&mut self, samples: &[f32]) -> Result<DecoderState<'_>, RuntimeError> {
        let shape = [1, dimension(samples.len())];
        let mask = vec![1; samples.len()];
        let mut inputs = vec![("input_values", Tensor::F32(&shape, samples))];
        if self.encoder.input("attention_mask").is_some() {
            inputs.push(("attention_mask", Tensor::I64(&shape, &mask)));
        }
        let hidden = one(self.encoder.run_retained(inputs, &["last_hidden_state"])?, &self.encoder)?;
        Ok(DecoderState { network: self, hidden, mask, n_rows: 1, sources: vec![0], cache: None })
    }

    /// Encodes a batch of texts, which are given as tokens. Each text must have at least one token. `pad` is
    /// the padding token.
    pub(crate) fn encode(
        &mut self,
        sources: &[Vec<i64>],
        pad: i64,
    ) -> Result<DecoderState<'_>, RuntimeError> {
        let longest = sources.iter().map(Vec::len).max().unwrap_or(0);
        let filled = |source: &Vec<i64>, value: &dyn Fn(i64) -> i64, rest: i64| {
            let mut row: Vec<i64> = source.iter().map(|t| value(*t)).collect();
            row.resize(longest, rest);
            row
        };
        let ids: Vec<i64> = sources.iter().flat_map(|s| filled(s, &|t| t, pad)).collect();
        let mask: Vec<i64> = sources.iter().flat_map(|s| filled(s, &|_| 1, 0)).collect();
        let shape = [dimension(sources.len()), dimension(longest)];
        let inputs =
            vec![("input_ids", Tensor::I64(&shape, &ids)), ("attention_mask", Tensor::I64(&shape, &mask))];
        let hidden = one(self.encoder.run_retained(inputs, &["last_hidden_state"])?, &self.encoder)?;
        let n_rows = sources.len();
        Ok(DecoderState { network: self, hidden, mask, n_rows, sources: (0..n_rows).collect(), cache: None })
    }
}

impl DecoderState<'_> {
    /// What the encoder gave: `[rows, frames, width]`.
    #[cfg(test)]
    pub(crate) fn hidden(&self) -> Array {
        self.network.encoder.read(&self.hidden).unwrap()
    }

    /// The logits of what follows each row's next token: `[rows, vocabulary]`.
    pub(crate) fn step(&mut self, tokens: &[i64]) -> Result<Array, RuntimeError> {
        let Array { shape, values } = self.run(tokens)?;
        match shape[..] {
            [rows, 1, vocabulary] => Ok(Array { shape: vec![rows, vocabulary], values }),
            _ => Err(self.network.unfit(format!(
                "for one token in each row it gave logits of the shape {shape:?}: expected [rows, 1, vocabulary]"
            ))),
        }
    }

    /// Adds the same number of tokens, `each`, to each row. Returns the logits after every one of them:
    /// `[rows, each, vocabulary]`.
    pub(crate) fn run(&mut self, tokens: &[i64]) -> Result<Array, RuntimeError> {
        let Network { decoder, decoder_with_past, layers, past: [heads, width], .. } = &mut *self.network;
        let is_later = [self.cache.is_some()];
        let takes_past = is_later[0] || decoder_with_past.is_none();
        let decoder = match decoder_with_past {
            Some(later) if is_later[0] => later,
            _ => decoder,
        };
        let rows = dimension(self.n_rows);
        let each = dimension(tokens.len()) / rows.max(1);
        let ids = [rows, each];
        let source = [rows, dimension(self.mask.len()) / rows.max(1)];
        // A merged decoder's first step ignores the past key values, but the inputs must have a value.
        let zeros = vec![0.0; self.n_rows * size(*heads * *width)];
        let zeros_shape = [rows, *heads, 1, *width];
        let mut inputs = vec![("input_ids", Tensor::I64(&ids, tokens))];
        let optional = [
            ("encoder_hidden_states", Tensor::Retained(&self.hidden)),
            ("use_cache_branch", Tensor::Bool(&[1], &is_later)),
            ("encoder_attention_mask", Tensor::I64(&source, &self.mask)),
        ];
        inputs.extend(optional.into_iter().filter(|(name, _)| decoder.input(name).is_some()));
        for (n, layer) in layers.iter().enumerate().filter(|_| takes_past) {
            for (k, name) in layer.past.iter().enumerate() {
                let retained = self.cache.as_ref().and_then(|cache| cache.get(n)).map(|layer| &layer[k]);
                let past = retained.map_or(Tensor::F32(&zeros_shape, &zeros), Tensor::Retained);
                inputs.push((name, past));
            }
        }
        let n_present = if is_later[0] { 2 } else { 4 };
        let mut outputs = vec!["logits"];
        outputs.extend(layers.iter().flat_map(|l| l.present[..n_present].iter().map(String::as_str)));
        let mut retained = decoder.run_retained(inputs, &outputs)?.into_iter();
        let logits = retained
            .next()
            .ok_or_else(|| decoder.layout_error("expected an output \"logits\", found none"))?;
        let mut cache = Vec::with_capacity(layers.len());
        let mut before = self.cache.take().map(Vec::into_iter);
        while let (Some(key), Some(value)) = (retained.next(), retained.next()) {
            let source = match before.as_mut().and_then(Iterator::next) {
                Some([_, _, key, value]) => Some((key, value)),
                None => retained.next().zip(retained.next()),
            };
            cache.extend(source.map(|(source_key, source_value)| [key, value, source_key, source_value]));
        }
        self.cache = Some(cache);
        decoder.read(&logits)
    }

    /// Replaces the batch by these of its rows, in this order. A row can be repeated or left out.
    pub(crate) fn reorder(&mut self, rows: &[usize]) -> Result<(), RuntimeError> {
        if rows.iter().copied().eq(0..self.n_rows) {
            return Ok(());
        }
        let decoder = &self.network.decoder;
        let sources: Vec<usize> = rows.iter().filter_map(|row| self.sources.get(*row).copied()).collect();
        // What is known of a source is the same in all its rows: beams that change places leave it as it is.
        let sources_move = sources != self.sources;
        if sources_move {
            self.hidden = decoder.rows(&self.hidden, rows)?;
            let width = self.mask.len() / self.n_rows.max(1);
            let of_row = |row: &usize| self.mask.get(row * width..(row + 1) * width).unwrap_or_default();
            self.mask = rows.iter().flat_map(of_row).copied().collect();
            self.sources = sources;
        }
        for [key, value, source_key, source_value] in self.cache.iter_mut().flatten() {
            *key = decoder.rows(key, rows)?;
            *value = decoder.rows(value, rows)?;
            if sources_move {
                *source_key = decoder.rows(source_key, rows)?;
                *source_value = decoder.rows(source_value, rows)?;
            }
        }
        self.n_rows = rows.len();
        Ok(())
    }
}

impl Layer {
    fn new(n: usize) -> Self {
        let names = |start: &str| {
            ["decoder.key", "decoder.value", "encoder.key", "encoder.value"]
                .map(|end| format!("{start}.{n}.{end}"))
        };
        Self { past: names("past_key_values"), present: names("present") }
    }
}

fn one(outputs: Vec<RetainedTensor>, session: &Session) -> Result<RetainedTensor, RuntimeError> {
    outputs.into_iter().next().ok_or_else(|| session.layout_error("expected one output, found none"))
}

fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
