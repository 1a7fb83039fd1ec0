//! `akhar models features`: converts what models read and write, from stdin to stdout.

use std::io::{BufReader, BufWriter, Write as _, stdin, stdout};

use akhar_inference::{ink, seq2seq, speech};

use super::Stream;
use crate::failure::Failure;

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
