//! `akhar translate`: translates the lines of standard input, on a server or with the installed translator.

use std::{
    io::{self, BufRead as _, BufReader, Read},
    path::PathBuf,
    time::Duration,
};

use akhar_client::{Answer, Client, ClientError, Retries, TranslationRequest};
use akhar_inference::{Registry, scripts, seq2seq::Translator};
use akhar_platform::{config::Config, text};
use akhar_requests::{Language, Operation, Script};
use futures::{TryFutureExt as _, future::try_join_all};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::{
    choices::named,
    elsewhere::{self, Elsewhere},
    failure::Failure,
    output,
};

/// The most lines that are translated at a time.
const MAX_BATCH: usize = 16;
/// How long a request is repeated while the server cannot be reached or has no place for it.
const RETRY_LIMIT: Duration = Duration::from_secs(5 * 60);

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
    /// The address of a server that translates, such as `https://akhar.example`. Without it and without `AKHAR_URL`, the
    /// installed translator does
    #[arg(long)]
    url: Option<String>,
    /// A file with the API key, instead of `AKHAR_KEY`
    #[arg(long)]
    key_file: Option<PathBuf>,
}

/// What translates.
enum Source<'a> {
    Here { translator: Box<Translator>, script: scripts::Script, from: &'static str, to: &'static str },
    Server { runtime: &'a Runtime, client: Client, base: String, from: &'static str, script: &'static str },
}

/// A translated line, and how likely it is about right.
type Line = (String, Option<f64>);

impl<'a> Source<'a> {
    /// The server that is named, or else the installed translator.
    fn open(config: &Config, arguments: &Arguments, runtime: &'a Runtime) -> Result<Self, Failure> {
        let (from, to) = (arguments.from.code(), arguments.to.code());
        let key = elsewhere::key(config, arguments.key_file.as_deref())?;
        if let Some(Elsewhere { base, key }) =
            Elsewhere::named(config, arguments.url.as_deref(), key.as_ref())?
        {
            let client = Client::new(elsewhere::http(false)?, &base, key);
            let client = client.retrying(Retries::within(RETRY_LIMIT));
            return Ok(Self::Server { runtime, client, base, from, script: arguments.script.name() });
        }
        let script = match arguments.script {
            Script::Gurmukhi => scripts::Script::Gurmukhi,
            Script::Latin => scripts::Script::Latin,
            Script::Shahmukhi => scripts::Script::Shahmukhi,
        };
        Ok(Self::Here { translator: Box::new(load(config, from)?), script, from, to })
    }

    fn translate(&mut self, lines: &[String]) -> Result<Vec<Line>, Failure> {
        match self {
            Self::Here { translator, script, from, to } => {
                let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
                let found = translator.translate(&texts, from, to)?.into_iter();
                Ok(found.map(|found| (script.write(&found.text), found.confidence)).collect())
            }
            Self::Server { runtime, client, base, from, script } => {
                let cannot = |error| elsewhere::failure(base, &error);
                let lines = lines.iter().map(|line| ask(client, line, from, script).map_err(cannot));
                runtime.block_on(try_join_all(lines))
            }
        }
    }
}

/// Lets a server translate a line. One with nothing to read stays empty.
async fn ask(client: &Client, line: &str, from: &str, script: &str) -> Result<Line, ClientError> {
    if line.trim().is_empty() {
        return Ok(Line::default());
    }
    let request = TranslationRequest {
        text: line.to_owned(),
        lang: Some(from.to_owned()),
        script: Some(script.to_owned()),
        idempotency_key: Some(Uuid::now_v7().to_string()),
        ..TranslationRequest::default()
    };
    let body = match client.translation(&request).await? {
        Answer::Done(body) => body,
        Answer::Accepted(job) => client.ended_translation(job.id).await?,
    };
    Ok((body.translation, body.confidence))
}

/// Translates standard input to standard output, a line for each line: it succeeds only if all were written. A line ends
/// with a line feed. An empty line stays empty.
pub(crate) fn run(config: &Config, arguments: &Arguments, runtime: &Runtime) -> Result<(), Failure> {
    let from = arguments.from.code();
    let to = arguments.to.code();
    if from == to {
        return Err(Failure::Command(format!("--from and --to are both {from}, expected two languages")));
    }
    let mut source = Source::open(config, arguments, runtime)?;
    let mut input = BufReader::new(io::stdin().lock());
    text::skip_mark(&mut input).map_err(Failure::io("cannot read standard input"))?;
    let mut n_written = 0_usize;
    loop {
        let lines = batch(&mut input).map_err(Failure::io("cannot read standard input"))?;
        if lines.is_empty() {
            return Ok(());
        }
        for (text, confidence) in source.translate(&lines)? {
            // One line for each line, whatever the model says.
            let text = text.replace(['\n', '\r'], " ");
            let confidence = confidence.map_or_else(String::new, |c| format!("{c:.4}"));
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
    let manifest = registry.serving(Operation::Translation.name(), Some(from))?;
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
