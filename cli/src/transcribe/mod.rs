//! `akhar transcribe`: transcribes files and folders of recordings on a server, and writes the results as files.

mod batch;
mod cut;
mod dry_run;
mod ffmpeg;
mod inputs;
mod join;
mod journal;
mod keyterms;
mod lengths;
mod outputs;
mod pace;
mod pieces;
mod progress;
mod server;
mod settings;
mod source;
mod spoken;
mod summary;
mod trouble;
mod untranscribed;

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use akhar_client::GroupBody;
use akhar_jobs::GroupName;
use akhar_operators::search::Term;
use akhar_platform::{blocking::blocking, config::Config};
use akhar_requests::{Channels, Digits, Script};
use futures::{Stream, StreamExt as _, stream};
use tokio::{
    sync::Semaphore,
    time::{MissedTickBehavior, interval, sleep},
};

use crate::{
    choices::named,
    elsewhere::{self, Elsewhere},
    failure::Failure,
    output,
    serve::Embedded,
    signals::Signals,
};
use batch::{Batch, Ended};
pub(crate) use cut::seconds;
use inputs::{Input, Inputs};
use journal::Journal;
use lengths::{Audio, Lengths};
use outputs::Outputs;
use pace::Pace;
use progress::{Progress, Tally};
use server::Server;
use settings::{Asked, Format, Settings};
use spoken::SpokenLanguage;
use summary::Row;
use untranscribed::Untranscribed;

/// How often the progress is shown.
const SHOW_INTERVAL: Duration = Duration::from_millis(500);
/// Signals within this time count as one.
const REPETITION: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of a command")]
pub(crate) struct Arguments {
    /// Files, folders, patterns such as 'calls/*.mp3', or `-` for a list of paths on standard input. From folders, files
    /// that end in .mp3, .wav, .flac, .m4a, .mkv, .mp4, .ogg, .opus or .webm are taken, others that begin as one of these, and where
    /// ffmpeg is installed recordings of other kinds, such as .aac, .amr and .wma. The others are listed as skipped
    #[arg(required_unless_present = "urls", conflicts_with = "urls")]
    paths: Vec<PathBuf>,
    /// A file with a URL on each line, from which the server fetches the recordings. The results of each have the host and the path
    /// of its URL as their path
    #[arg(long, value_name = "LIST", conflicts_with = "dry_run")]
    urls: Option<PathBuf>,
    /// The folder for the results. The folders of the recordings are repeated in it
    #[arg(long, default_value = "transcripts")]
    out: PathBuf,
    /// The formats of the results
    #[arg(long, value_delimiter = ',', default_value = "json")]
    format: Vec<Format>,
    /// The language that is spoken
    #[arg(long, default_value = "pa")]
    lang: SpokenLanguage,
    /// Translate the text into the other language. In the formats other than json, the translation is a file of its own, such
    /// as NAME.en.srt, so with these the language must be named
    #[arg(long)]
    translate: bool,
    /// Add the time of each segment. The formats srt and vtt imply this
    #[arg(long)]
    timestamps: bool,
    /// Add the words of each segment with their times, and how likely each segment and word is right, to the format json
    #[arg(long)]
    words: bool,
    /// Write numbers in figures, such as ₹250, 15% and 5:30, and Panjabi with danda, comma and question mark. The formats srt and
    /// vtt imply this
    #[arg(long)]
    written: bool,
    /// The digits of the text in this written form
    #[arg(long, value_parser = named(Digits::ALL, Digits::name))]
    digits: Option<Digits>,
    /// The script of Panjabi: Latin by ISO 15919 (paṃjābī), and Shahmukhi approximately, by rules. English does not change
    #[arg(long, default_value = "gurmukhi", value_parser = named(Script::ALL, Script::name))]
    script: Script,
    /// Leave the text as it is spoken in the formats srt and vtt
    #[arg(long, conflicts_with_all = ["written", "digits"])]
    spoken: bool,
    /// Whether the channels of a recording are mixed into one, or each is transcribed by itself. Recordings that ffmpeg decodes
    /// are mixed
    #[arg(long, default_value = "mixed", value_parser = named(Channels::ALL, Channels::name))]
    channels: Channels,
    /// The most characters of a line in the formats srt and vtt
    #[arg(long, default_value = "42", value_parser = clap::value_parser!(u8).range(10..=200))]
    max_line_length: u8,
    /// The most lines of a cue in the formats srt and vtt
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u8).range(1..=4))]
    max_lines: u8,
    /// A file with a term on each line that the recordings are likely to have, such as names: at most 100, in Gurmukhi for
    /// Panjabi and in Latin letters for English
    #[arg(long)]
    keyterms: Option<PathBuf>,
    /// The most jobs at a time. Fewer are sent while the server has much to do
    #[arg(long, default_value = "64")]
    concurrency: NonZeroUsize,
    /// Continue the run that wrote the output folder. What it has transcribed is not transcribed again
    #[arg(long)]
    resume: bool,
    /// Delete each job from the server when the results of its recording are written
    #[arg(long)]
    delete: bool,
    /// The name of the group that counts the run's jobs on the server. Without it, the command makes a name. With --resume, it is that
    /// of the earlier run
    #[arg(long, value_name = "NAME", value_parser = <GroupName as Term>::parse)]
    group: Option<GroupName>,
    /// Only print how many recordings there are, how long they are, about how long a run would take, and which files would fail
    /// or be skipped. Nothing is written or sent
    #[arg(long)]
    dry_run: bool,
    /// The server's address, such as `https://akhar.example`. Without it and without `AKHAR_URL`, the command runs a service of
    /// its own
    #[arg(long)]
    url: Option<String>,
    /// A file with the API key, instead of `AKHAR_KEY`
    #[arg(long)]
    key_file: Option<PathBuf>,
}

impl Arguments {
    fn settings(&self) -> Result<Settings, Failure> {
        if self.translate && self.lang.named().is_none() && self.format.iter().any(|f| *f != Format::Json) {
            let text = "--lang auto does not tell the names of the files with translations: name the language, or leave out \
                the formats other than json";
            return Err(Failure::Command(text.to_owned()));
        }
        let asked = Asked { translate: self.translate, timestamps: self.timestamps, words: self.words };
        let keyterms = self.keyterms.as_deref().map(keyterms::read).transpose()?.unwrap_or_default();
        let settings = Settings::new(self.lang, asked, &self.format).with_script(self.script);
        let settings =
            settings.with_layout(self.max_line_length, self.max_lines).with_channels(self.channels);
        let settings = settings.with_keyterms(keyterms);
        Ok(match self.digits.or(self.written.then_some(Digits::Latin)) {
            None if self.spoken => settings.with_numbers(None),
            None => settings,
            digits => settings.with_numbers(digits),
        })
    }
}

/// Transcribes all recordings. Fails with [`Failure::Exit`] if some failed that did not fail in an earlier run too, or if a signal interrupted the run.
pub(crate) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let settings = arguments.settings()?;
    let has_ffmpeg = blocking(ffmpeg::is_installed).await;
    let translation_lang = settings.translation_lang();
    let inputs = match &arguments.urls {
        Some(list) => inputs::of_urls(list, translation_lang)?,
        None => inputs::find(&arguments.paths, translation_lang, has_ffmpeg)?,
    };
    if inputs.recordings.is_empty() {
        return Err(no_recording(&inputs));
    }
    if arguments.dry_run {
        return blocking(move || dry_run::report(&inputs, arguments.lang, has_ffmpeg)).await;
    }
    let key = elsewhere::key(config, arguments.key_file.as_deref())?;
    let elsewhere = Elsewhere::named(config, arguments.url.as_deref(), key.as_ref())?;
    let speech_copies = if elsewhere.is_none() {
        let config = config.clone();
        let settings = settings.clone();
        Some(blocking(move || server::check_installation(&config, &settings)).await?)
    } else {
        None
    };
    let outputs = Outputs::create(arguments.out)?;
    let journal = Journal::open(outputs.folder(), &settings, arguments.group, arguments.resume)?;
    outputs.write_list(untranscribed::SKIPPED, &inputs.skipped)?;
    let mut signals = Signals::new()?;
    let pace = Pace::new(arguments.concurrency.get());
    let mut service = speech_copies.map(|copies| Embedded::start(config, copies)).transpose()?;
    let opened = async {
        match (elsewhere, &mut service) {
            (Some(elsewhere), _) => Server::connect(elsewhere, &pace).await,
            (None, Some(service)) => Server::connect_here(service, key, &pace).await,
            (None, None) => Err(Failure::WorkerStart),
        }
    };
    let opened = tokio::select! {
        opened = opened => opened,
        code = signals.next() => Err(Failure::Exit(code)),
    };
    let ran = match opened {
        Ok(Server { client, base }) => {
            let client = match journal.group() {
                Some(group) => client.in_group(group.as_str()),
                None => client,
            };
            let lengths = Lengths::new(inputs.recordings.iter().map(size));
            let memory = Semaphore::new(1);
            let batch = Batch {
                client,
                base,
                pace,
                settings,
                outputs,
                journal,
                deletes_jobs: arguments.delete,
                memory,
                has_ffmpeg,
                lengths,
            };
            transcribe(&Arc::new(batch), inputs, arguments.concurrency.get(), &mut signals).await
        }
        Err(failure) => Err(failure),
    };
    let Some(service) = service else { return ran };
    let stopped = tokio::select! {
        stopped = service.stop() => stopped,
        code = next_but_repeated() => Err(Failure::Exit(code?)),
    };
    ran.and(stopped)
}

/// Why there is nothing to do.
fn no_recording(Inputs { skipped, failed, .. }: &Inputs) -> Failure {
    let expected = "expected files with a known ending, such as .mp3, in the given folders";
    let such_as = |what: &str, files: &[Untranscribed]| {
        let first = files.first().map(|first| format!(" {what}, such as {}: {}", first.path, first.reason));
        first.map_or_else(String::new, |text| format!(". {}{text}", files.len()))
    };
    let (failed, skipped) = (such_as("failed", failed), such_as("skipped", skipped));
    Failure::Command(format!("there is no recording: {expected}{failed}{skipped}"))
}

/// Transcribes all recordings and prints a summary.
async fn transcribe(
    batch: &Arc<Batch>,
    Inputs { recordings, skipped, failed }: Inputs,
    concurrency: usize,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let mut run = Run::new(recordings.len() + failed.len(), &skipped, &batch.outputs)?;
    for failure in failed {
        let path = PathBuf::from(&failure.path);
        run.count(&path, batch.failed(failure, None).await?)?;
    }
    let recordings = recordings.into_iter().enumerate().map(|(nth, input)| {
        let batch = batch.clone();
        async move {
            let ended = batch.transcribe(nth, &input).await;
            (input.path, ended)
        }
    });
    // One more than have places, so that the next file is at hand when a place becomes free.
    let ended = stream::iter(recordings).buffer_unordered(concurrency + 1);
    let interrupted = run.follow(ended, || batch.lengths.sum(), batch.groups(), signals).await;
    run.progress.finish();
    batch.outputs.write_list(untranscribed::FAILURES, &run.failures)?;
    batch.outputs.write_summary(std::mem::take(&mut run.rows))?;
    output::line(run.tally.summary(run.progress.elapsed())).or_else(Failure::unless_output_closed)?;
    let list = |name| batch.outputs.folder().join(name).display().to_string();
    if !skipped.is_empty() {
        output::note(format_args!("the skipped files are listed in {}", list(untranscribed::SKIPPED)));
    }
    match interrupted {
        Err(Failure::Exit(code)) => {
            output::note("interrupted: run the same command with --resume to continue");
            if let Some(group) = batch.journal.group() {
                output::note(format_args!("the jobs on the server are in the group {}", group.as_str()));
            }
            Err(Failure::Exit(code))
        }
        Err(failure) => Err(failure),
        Ok(()) if run.failures.is_empty() => Ok(()),
        Ok(()) => {
            output::note(format_args!(
                "the failed recordings are listed in {}",
                list(untranscribed::FAILURES)
            ));
            if run.tally.n_failed == 0 { Ok(()) } else { Err(Failure::Exit(1)) }
        }
    }
}

/// The size of a recording. A file that cannot be read has none.
fn size(input: &Input) -> u64 {
    fs::metadata(&input.path).map_or(0, |file| file.len())
}

/// What has happened so far.
struct Run<'a> {
    tally: Tally,
    failures: Vec<Untranscribed>,
    /// The lines of the table.
    rows: Vec<Row>,
    /// The group of the run's jobs, as the server has last counted them.
    group: Option<GroupBody>,
    progress: Progress,
    outputs: &'a Outputs,
}

impl<'a> Run<'a> {
    fn new(n_files: usize, skipped: &[Untranscribed], outputs: &'a Outputs) -> Result<Self, Failure> {
        let tally = Tally { n_files, n_skipped: skipped.len(), ..Tally::default() };
        let rows: Vec<Row> = skipped.iter().map(Row::skipped).collect();
        outputs.begin_lists(rows.clone())?;
        Ok(Self { progress: Progress::new(), tally, failures: Vec::new(), rows, group: None, outputs })
    }

    /// Counts and shows recordings until all have ended, one ends the run, or a signal does.
    async fn follow(
        &mut self,
        ended: impl Stream<Item = (PathBuf, Result<Ended, Failure>)>,
        audio: impl Fn() -> Audio,
        groups: impl Stream<Item = GroupBody>,
        signals: &mut Signals,
    ) -> Result<(), Failure> {
        let mut ended = std::pin::pin!(ended);
        let mut groups = std::pin::pin!(groups);
        let mut ticks = interval(SHOW_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                next = ended.next() => match next {
                    Some((path, ended)) => self.count(&path, ended?)?,
                    None => return Ok(()),
                },
                Some(group) = groups.next() => self.group = Some(group),
                _ = ticks.tick() => self.progress.show(&self.tally, audio(), self.group.as_ref()),
                code = signals.next() => return Err(Failure::Exit(code)),
            }
        }
    }

    /// Counts a recording that has ended, and adds it to the lists in the output folder.
    fn count(&mut self, path: &Path, ended: Ended) -> Result<(), Failure> {
        let row = match ended {
            Ended::Transcribed(entry) => {
                self.tally.n_transcribed += 1;
                self.tally.n_with_warnings += usize::from(!entry.warnings.is_empty());
                self.tally.audio_s += entry.duration_s;
                Row::transcribed(path, entry)
            }
            Ended::Earlier(entry) => {
                self.tally.n_earlier += 1;
                Row::transcribed(path, entry)
            }
            Ended::Failed(failure) => {
                self.progress.print(&format!("{}: {}", failure.path, failure.reason));
                self.tally.n_failed += 1;
                self.fail(failure)?
            }
            Ended::Known(failure) => {
                self.tally.n_known += 1;
                self.fail(failure)?
            }
        };
        self.outputs.add_row(&row)?;
        self.rows.push(row);
        Ok(())
    }

    fn fail(&mut self, failure: Untranscribed) -> Result<Row, Failure> {
        self.outputs.add_failure(&failure)?;
        let row = Row::failed(&failure);
        self.failures.push(failure);
        Ok(row)
    }
}

/// Waits for a signal that is no repetition of an earlier one, as programs that start others send them. Only it may leave the
/// temporary database behind.
async fn next_but_repeated() -> Result<u8, Failure> {
    sleep(REPETITION).await;
    Ok(Signals::new()?.next().await)
}
