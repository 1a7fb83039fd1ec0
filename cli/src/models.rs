//! `akhar models`: what is installed, whether its files are whole, and what it is shown.

use std::{
    io::{BufReader, BufWriter, Write as _, stdin, stdout},
    path::{Path, PathBuf},
};

use akhar_models::{ink, load_all};
use akhar_platform::config::Config;

use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the installed models
    List,
    /// Check every model file against its manifest
    Verify,
    /// Turn images into what the recognisers see: a filter for training
    Features {
        /// Read frames from stdin (width and height as u32 little endian, then RGB bytes) and write a
        /// status byte (0: ink, 1: none) and the coverage bytes of each to stdout
        #[arg(long, required = true)]
        stream: bool,
    },
}

/// Does one of them.
pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::List => list(&folder()?),
        Command::Verify => verify(&folder()?),
        Command::Features { .. } => features(),
    }
}

fn folder() -> Result<PathBuf, Failure> {
    Ok(Config::load()?.models_dir)
}

fn list(folder: &Path) -> Result<(), Failure> {
    for model in load_all(folder)? {
        println!("{}  {}  {}  {}", model.id, model.operation, model.licence, model.source);
    }
    Ok(())
}

fn verify(folder: &Path) -> Result<(), Failure> {
    for model in load_all(folder)? {
        model.verify()?;
        println!("{}  {} files whole", model.id, model.files.len());
    }
    Ok(())
}

fn features() -> Result<(), Failure> {
    let (mut input, mut output) = (BufReader::new(stdin().lock()), BufWriter::new(stdout().lock()));
    let n_frames = ink::stream(&mut input, &mut output).map_err(Failure::io("frames"))?;
    output.flush().map_err(Failure::io("stdout"))?;
    eprintln!("{n_frames} frames");
    Ok(())
}
