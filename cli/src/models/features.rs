//! `akhar models features`: reads images from stdin and writes the recognisers' input features to stdout.

use std::io::{BufReader, BufWriter, Write as _, stdin, stdout};

use akhar_inference::ink;

use crate::failure::Failure;

pub(super) fn run() -> Result<(), Failure> {
    let (mut input, mut output) = (BufReader::new(stdin().lock()), BufWriter::new(stdout().lock()));
    let n_frames =
        ink::stream(&mut input, &mut output).map_err(Failure::io("cannot convert frames to features"))?;
    output.flush().map_err(Failure::io("cannot write to stdout"))?;
    eprintln!("{n_frames} frames");
    Ok(())
}
