//! `akhar models features`: frames come in on stdin; the recognisers' input features go out on stdout.

use std::io::{BufReader, BufWriter, Write as _, stdin, stdout};

use akhar_inference::ink;

use crate::failure::Failure;

pub(super) fn run() -> Result<(), Failure> {
    let (mut input, mut output) = (BufReader::new(stdin().lock()), BufWriter::new(stdout().lock()));
    let n_frames = ink::stream(&mut input, &mut output).map_err(Failure::io("frames"))?;
    output.flush().map_err(Failure::io("stdout"))?;
    eprintln!("{n_frames} frames");
    Ok(())
}
