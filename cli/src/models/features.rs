//! `akhar models features`: converts what models read and write, from stdin to stdout.

use std::io::{BufReader, BufWriter, Write as _, stdin, stdout};

use akhar_inference::{ink, seq2seq, speech};

use crate::failure::Failure;

/// What a stream for training converts.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Stream {
    /// Pictures into the recognisers' features
    Pictures,
    /// Sound into log-mels, and log-mels into what a network takes
    Sound,
    /// Texts into texts with placeholders and back, and scores into those of what a translation may continue with
    Text,
    /// Log-probabilities into the units of a text, with their frames
    Ctc,
}

pub(super) fn run(stream: Stream) -> Result<(), Failure> {
    let mut input = BufReader::new(stdin().lock());
    let mut output = BufWriter::new(stdout().lock());
    let converted = match stream {
        Stream::Pictures => ink::stream(&mut input, &mut output).map(drop),
        Stream::Sound => speech::features::stream(&mut input, &mut output),
        Stream::Text => seq2seq::stream(&mut input, &mut output),
        Stream::Ctc => speech::ctc::stream(&mut input, &mut output),
    };
    converted.map_err(Failure::io("cannot convert what stdin gives"))?;
    output.flush().map_err(Failure::io("cannot write to stdout"))
}
