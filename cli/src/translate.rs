//! `akhar translate`: translates the lines of standard input with the installed translator, without a server.

use std::io::{self, BufRead as _, BufReader, Read};

use akhar_inference::{Registry, scripts, seq2seq::Translator};
use akhar_platform::{config::Config, text};
use akhar_requests::{Language, Script};

use crate::{choices::named, failure::Failure, output};

/// The operation name of translators in manifests.
const OPERATION: &str = "translation";
/// The most lines in one run of the model.
const MAX_BATCH: usize = 16;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The language of the lines on standard input
    #[arg(long, value_parser = named(Language::ALL, Language::code))]
    from: Language,
    /// The language to translate into
    #[arg(long, value_parser = named(Language::ALL, Language::code))]
    to: Language,
    /// Write how likely each translation is about right (0 to 1) and a tab before it. Of an empty line, and of one that has
    /// nothing to translate, it is left out
    #[arg(long)]
    confidence: bool,
    /// The script of translations into Panjabi: Latin by ISO 15919 (paṃjābī), and Shahmukhi approximately, by rules
    #[arg(long, default_value = "gurmukhi", value_parser = named(Script::ALL, Script::name))]
    script: Script,
}

/// Translates standard input to standard output, a line for each line: it succeeds only if all were written. A line ends
/// with a line feed. An empty line stays empty.
pub(crate) fn run(config: &Config, arguments: &Arguments) -> Result<(), Failure> {
    let from = arguments.from.code();
    let to = arguments.to.code();
    if from == to {
        return Err(Failure::Command(format!("--from and --to are both {from}, expected two languages")));
    }
    let script = match arguments.script {
        Script::Gurmukhi => scripts::Script::Gurmukhi,
        Script::Latin => scripts::Script::Latin,
        Script::Shahmukhi => scripts::Script::Shahmukhi,
    };
    let mut translator = load(config, from)?;
    let mut input = BufReader::new(io::stdin().lock());
    text::skip_mark(&mut input).map_err(Failure::io("cannot read standard input"))?;
    let mut n_written = 0_usize;
    loop {
        let lines = batch(&mut input).map_err(Failure::io("cannot read standard input"))?;
        if lines.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
        let translations = translator.translate(&texts, from, to)?;
        for translation in translations {
            // One line for each line, whatever the model says.
            let text = script.write(&translation.text.replace(['\n', '\r'], " "));
            let confidence = translation.confidence.map_or_else(String::new, |c| format!("{c:.4}"));
            let line = if arguments.confidence { format!("{confidence}\t{text}") } else { text };
            output::line(line).map_err(|failure| match failure {
                Failure::OutputClosed => closed_after(n_written),
                failure => failure,
            })?;
            n_written += 1;
        }
    }
}

/// Unlike other commands, this one has not done what it was asked to if nobody reads the rest.
fn closed_after(n_written: usize) -> Failure {
    Failure::Command(format!("standard output was closed after {n_written} lines, before the last one"))
}

/// Loads the translator that is chosen for this source language.
fn load(config: &Config, from: &str) -> Result<Translator, Failure> {
    let runtime = akhar_worker::runtime(config)?;
    let registry = Registry::open(&config.models_dir)?;
    let manifest = registry.serving(OPERATION, Some(from))?;
    Ok(Translator::load(&runtime, manifest, config.inference_threads.get())?)
}

/// The next lines: one that is waited for, and those that have arrived with it. Empty at the end.
fn batch(input: &mut BufReader<impl Read>) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    while lines.len() < MAX_BATCH && (lines.is_empty() || input.buffer().contains(&b'\n')) {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            break;
        }
        lines.push(line.trim_end_matches(['\n', '\r']).to_owned());
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_does_not_wait_for_lines_that_have_not_arrived() {
        let mut input = BufReader::with_capacity(8, &b"one\n\ntwo\r\nthree"[..]);
        let mut batches = Vec::new();
        loop {
            match batch(&mut input).unwrap() {
                lines if lines.is_empty() => break,
                lines => batches.push(lines),
            }
        }
        assert_eq!(batches, [vec!["one", ""], vec!["two"], vec!["three"]]);
    }

    #[test]
    fn a_batch_has_a_largest_size() {
        let text = "a\n".repeat(MAX_BATCH + 1);
        let mut input = BufReader::new(text.as_bytes());
        assert_eq!(batch(&mut input).unwrap().len(), MAX_BATCH);
        assert_eq!(batch(&mut input).unwrap().len(), 1);
    }
}
