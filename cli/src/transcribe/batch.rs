//! Transcribes one recording of a run: reads it, cuts it if it is long or of another format, sends it, and writes the results.

use std::{
    fs,
    future::ready,
    io::{self, ErrorKind},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use akhar_client::{
    Client, ClientError, GroupBody, JobBody, JobResultBody, MAX_RECORDING_BYTES, ProblemBody,
    RecordingSource, Warnings,
};
use akhar_platform::blocking::{blocking, joined};
use akhar_worker::{Recording, Undecodable};
use bytes::Bytes;
use futures::{
    Stream, StreamExt as _,
    stream::{self, FuturesUnordered},
};
use tokio::{
    sync::{Semaphore, SemaphorePermit, mpsc},
    time::{Interval, interval},
};
use url::Url;
use uuid::Uuid;

use super::{
    cut::{Cutter, Piece},
    inputs::{Input, Reader},
    join::{Part, Transcript, join, merge},
    journal::{Entry, Journal},
    lengths::Lengths,
    outputs::{MAX_NAME_BYTES, Outputs},
    pace::{Pace, Place},
    settings::{Settings, sha256},
    source::{Encoded, Source, is_of_decoder},
    spoken::AUTO,
    untranscribed::Untranscribed,
};
use crate::{elsewhere, failure::Failure};

/// How many jobs a recording may have that fail for a reason of the server, such as workers that die.
const MAX_JOBS: u32 = 3;
/// How often the progress of a job and the counts of the group are asked for, seconds.
const PROGRESS_INTERVAL_S: u8 = 5;

/// What all recordings of a run share.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) client: Client,
    /// The server's address, for messages.
    pub(super) base: String,
    pub(super) pace: Pace,
    pub(super) settings: Settings,
    pub(super) outputs: Outputs,
    pub(super) journal: Journal,
    /// Whether jobs are deleted from the server when their results are written.
    pub(super) deletes_jobs: bool,
    /// Held while a long recording is in memory, so that one is at a time.
    pub(super) memory: Semaphore,
    /// Whether ffmpeg is installed.
    pub(super) has_ffmpeg: bool,
    /// The lengths of all recordings, and how much of them is transcribed.
    pub(super) lengths: Lengths,
}

/// How a recording ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Its results are written.
    Transcribed(Entry),
    /// An earlier run has written its results.
    Earlier(Entry),
    Failed(Untranscribed),
}

/// Why there is no transcript.
#[derive(Debug)]
enum Trouble {
    /// The recording has no result.
    Recording { code: String, reason: String },
    /// The run cannot go on.
    Run(Failure),
}

/// A recording in memory, a piece of one as a WAV file, or a recording that the server fetches.
#[derive(Debug, Clone)]
struct Sound {
    source: RecordingSource,
    /// The SHA-256 of the bytes or of the URL.
    sha256: String,
}

impl Sound {
    fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { sha256: sha256(&bytes), source: bytes.into() }
    }

    fn of_url(url: &Url) -> Self {
        Self { sha256: sha256(url.as_str().as_bytes()), source: RecordingSource::Url(url.to_string()) }
    }
}

/// A piece of a long recording, and its place in it.
#[derive(Debug)]
struct CutPiece {
    start_s: f64,
    end_s: f64,
    ends_in_pause: bool,
    sound: Sound,
}

impl Trouble {
    /// Whether another decoder may read the recording.
    fn is_of_decoder(&self) -> bool {
        matches!(self, Self::Recording { code, .. } if is_of_decoder(code))
    }

    /// This trouble if it ends the run, and otherwise another one.
    fn unless_of_recording(self, other: Self) -> Self {
        if matches!(self, Self::Recording { .. }) { other } else { self }
    }
}

impl From<Undecodable> for Trouble {
    fn from(Undecodable { code, detail }: Undecodable) -> Self {
        Self::Recording { code: code.to_owned(), reason: detail }
    }
}

impl From<Piece> for CutPiece {
    fn from(piece: Piece) -> Self {
        let (start_s, end_s) = (piece.start_s(), piece.end_s());
        Self { start_s, end_s, ends_in_pause: piece.ends_in_pause, sound: Sound::new(piece.wav()) }
    }
}

impl Batch {
    /// The group of the run's jobs, again and again. Empty if the run has none.
    pub(super) fn groups(&self) -> impl Stream<Item = GroupBody> {
        let every = interval(Duration::from_secs(PROGRESS_INTERVAL_S.into()));
        let followed = self.journal.group().map(|name| (name.as_str(), every));
        let next = async move |followed: Option<(_, Interval)>| {
            let (name, mut every) = followed?;
            every.tick().await;
            Some((self.client.group(name, 0).await.ok(), Some((name, every))))
        };
        stream::unfold(followed, next).filter_map(ready)
    }

    /// Transcribes a recording, the `nth` of the run, and writes its results. An error ends the run.
    pub(super) async fn transcribe(self: Arc<Self>, nth: usize, input: &Input) -> Result<Ended, Failure> {
        let ended = match self.try_transcribe(nth, input).await {
            Ok(ended) => ended,
            Err(Trouble::Recording { code, reason }) => {
                let path = input.path.to_string_lossy().into_owned();
                Ended::Failed(Untranscribed { path, code, reason })
            }
            Err(Trouble::Run(failure)) => return Err(failure),
        };
        self.lengths.ended(nth, if let Ended::Transcribed(entry) = &ended { entry.duration_s } else { 0.0 });
        Ok(ended)
    }

    /// Transcribes a recording, unless an earlier run has done that.
    async fn try_transcribe(self: &Arc<Self>, nth: usize, input: &Input) -> Result<Ended, Trouble> {
        if let Some(url) = &input.url {
            return self.try_transcribe_url(nth, input, url).await;
        }
        self.check_name(input)?;
        let n_bytes = tokio::fs::metadata(&input.path).await.map_err(unreadable)?.len();
        let (path, has_ffmpeg) = (input.path.clone(), self.has_ffmpeg);
        let reader = blocking(move || Reader::of(&path, has_ffmpeg)).await.map_err(unreadable)?;
        let is_cut = reader != Reader::Server || n_bytes > MAX_RECORDING_BYTES as u64;
        let (place, memory) = if is_cut {
            (None, self.memory.acquire().await.ok())
        } else {
            (Some(self.pace.place().await), None)
        };
        let path = input.path.clone();
        let read = blocking(move || {
            let bytes = Bytes::from(fs::read(path)?);
            Ok((Sound::new(bytes.clone()), bytes))
        });
        let (sound, bytes) = read.await.map_err(unreadable)?;
        let sha256 = sound.sha256.clone();
        if let Some(entry) = self.earlier(input, &sha256) {
            return Ok(Ended::Earlier(entry));
        }
        let transcript = match place {
            Some(place) => {
                // The server says what is wrong with a recording that cannot be opened.
                let length_s =
                    blocking(move || Recording::open(bytes, None).map(|recording| recording.length_s()));
                if let Ok(length_s) = length_s.await {
                    self.lengths.opened(nth, length_s);
                }
                self.job(nth, sound, place, false, self.settings.lang().name()).await
            }
            None if reader == Reader::Ffmpeg => self.foreign(nth, input, memory).await,
            None => self.channels(nth, Encoded::Own(bytes), memory).await,
        };
        let transcript = match transcript {
            Err(trouble) if self.has_ffmpeg && reader != Reader::Ffmpeg && trouble.is_of_decoder() => {
                let memory = self.memory.acquire().await.ok();
                // If ffmpeg cannot read it either, the first reason is the better one.
                self.foreign(nth, input, memory).await.map_err(|other| other.unless_of_recording(trouble))
            }
            transcript => transcript,
        };
        self.write(input, sha256, transcript?).await
    }

    /// Transcribes a recording that ffmpeg decodes.
    async fn foreign(
        self: &Arc<Self>,
        nth: usize,
        input: &Input,
        memory: Option<SemaphorePermit<'_>>,
    ) -> Result<Transcript, Trouble> {
        self.channels(nth, Encoded::Foreign(input.path.clone()), memory).await
    }

    /// Refuses a recording whose results could not be written.
    fn check_name(&self, input: &Input) -> Result<(), Trouble> {
        self.outputs.too_long_name(input, &self.settings).map_or(Ok(()), |n_bytes| {
            let reason = format!(
                "a result of it would have a name of {n_bytes} bytes, expected at most {MAX_NAME_BYTES}: rename it"
            );
            Err(Trouble::Recording { code: "name_too_long".to_owned(), reason })
        })
    }

    /// Transcribes a recording that the server fetches, unless an earlier run has done that. Whether the file behind its URL is
    /// still the same is not known here, and a signature in the query may be another one.
    async fn try_transcribe_url(
        self: &Arc<Self>,
        nth: usize,
        input: &Input,
        url: &Url,
    ) -> Result<Ended, Trouble> {
        self.check_name(input)?;
        let sha256 = sha256(input.path.as_os_str().as_encoded_bytes());
        if let Some(entry) = self.earlier(input, &sha256) {
            return Ok(Ended::Earlier(entry));
        }
        let place = self.pace.place().await;
        let transcript = self.job(nth, Sound::of_url(url), place, false, self.settings.lang().name()).await?;
        self.write(input, sha256, transcript).await
    }

    /// What an earlier run has transcribed of this recording, if its results exist.
    fn earlier(&self, input: &Input, sha256: &str) -> Option<Entry> {
        let entry = self.journal.done(&input.name.to_string_lossy(), sha256);
        entry.filter(|_| self.outputs.exist(input, &self.settings)).cloned()
    }

    /// Writes the results of a recording, and deletes its jobs if that is asked for.
    async fn write(
        self: &Arc<Self>,
        input: &Input,
        sha256: String,
        transcript: Transcript,
    ) -> Result<Ended, Trouble> {
        let entry = Entry {
            name: input.name.to_string_lossy().into_owned(),
            sha256,
            duration_s: transcript.duration_s,
            n_words: transcript.body.transcription.split_whitespace().count(),
            confidence: transcript.confidence,
            warnings: transcript.warnings.sentences(),
        };
        let batch = self.clone();
        let input = input.clone();
        let written = blocking(move || {
            batch.outputs.write(&input, &batch.settings, &transcript).map_err(unwritten)?;
            batch.journal.add(&entry).map_err(Trouble::Run)?;
            Ok::<_, Trouble>((Ended::Transcribed(entry), transcript.jobs))
        });
        let (ended, jobs) = written.await?;
        if self.deletes_jobs {
            self.delete(jobs).await?;
        }
        Ok(ended)
    }

    /// Deletes the jobs of a recording. One that an operator or the server has deleted is passed over.
    async fn delete(&self, jobs: Vec<Uuid>) -> Result<(), Trouble> {
        for job in jobs {
            match self.client.delete_job(job).await {
                Ok(_) => (),
                Err(error) if error.status() == Some(404) => (),
                Err(error) => return Err(Trouble::Run(elsewhere::failure(&self.base, &error))),
            }
        }
        Ok(())
    }

    /// Transcribes a recording that the server does not take as it is, its channels one after the other if they are split.
    async fn channels(
        self: &Arc<Self>,
        nth: usize,
        encoded: Encoded,
        memory: Option<SemaphorePermit<'_>>,
    ) -> Result<Transcript, Trouble> {
        if !self.settings.splits_channels() {
            let lang = self.settings.lang().name().to_owned();
            return self.clone().pieces(nth, encoded, memory, None, lang).await;
        }
        let opened = encoded.clone();
        let n_channels = blocking(move || opened.n_channels()).await?;
        let mut channels = Vec::new();
        let mut lang = self.settings.lang().name().to_owned();
        for channel in 0..n_channels {
            let no_permit = None::<SemaphorePermit<'_>>;
            let pieces = self.clone().pieces(nth, encoded.clone(), no_permit, Some(channel), lang.clone());
            let transcript = pieces.await?;
            lang = transcript.detected().map_or(lang, str::to_owned);
            channels.push(transcript);
        }
        drop(memory);
        Ok(merge(channels))
    }

    /// Transcribes a recording that the server does not take as it is, or one of its channels, in pieces. `memory` is released when the last piece is
    /// cut off. `lang`: the name of the language. If it is to be detected, pieces are sent one by one until it is, and the
    /// others are of this language.
    async fn pieces(
        self: Arc<Self>,
        nth: usize,
        encoded: Encoded,
        memory: Option<impl Drop>,
        channel: Option<usize>,
        mut lang: String,
    ) -> Result<Transcript, Trouble> {
        let (sender, mut pieces) = mpsc::channel(1);
        let batch = self.clone();
        let cutting = move || {
            let source = encoded.open(channel)?;
            if let Some(length_s) = source.length_s() {
                batch.lengths.opened(nth, length_s);
            }
            cut(source, &sender)
        };
        let mut cut = Some((memory, tokio::task::spawn_blocking(cutting)));
        let mut running = FuturesUnordered::new();
        let mut parts = Vec::new();
        let mut next = None;
        let mut n_pieces = 0_usize;
        let mut warnings = Vec::new();
        loop {
            tokio::select! {
                Some(ended) = running.next() => {
                    let (nth_piece, part): (usize, Part) = ended?;
                    lang = part.transcript.detected().map_or(lang, str::to_owned);
                    parts.push((nth_piece, part));
                }
                place = self.pace.place(), if next.is_some() && (lang != AUTO || running.is_empty()) => {
                    let piece: Option<CutPiece> = next.take();
                    running.extend(piece.map(|piece| self.piece((nth, n_pieces), piece, place, lang.clone())));
                    n_pieces += 1;
                }
                piece = pieces.recv(), if next.is_none() && cut.is_some() => {
                    next = piece;
                    if next.is_none() && let Some((_memory, ended)) = cut.take() {
                        let ended = joined(ended.await);
                        warnings = ended?;
                    }
                }
                else => break,
            }
        }
        parts.sort_by_key(|(nth, _)| *nth);
        let mut whole = join(parts.into_iter().map(|(_, part)| part).collect());
        whole.warnings.general.splice(0..0, warnings);
        Ok(whole)
    }

    /// Transcribes a piece of the `nth` recording. Returns it with its number among the pieces.
    async fn piece(
        &self,
        (nth, nth_piece): (usize, usize),
        piece: CutPiece,
        place: Place,
        lang: String,
    ) -> Result<(usize, Part), Trouble> {
        let CutPiece { start_s, end_s, ends_in_pause, sound } = piece;
        let mut transcript = self.job(nth, sound, place, true, &lang).await?;
        if !ends_in_pause {
            transcript
                .warnings
                .general
                .push("there is no pause at its end, so a word may be cut in two".to_owned());
        }
        Ok((nth_piece, Part { start_s, end_s, ends_in_pause, transcript }))
    }

    /// Transcribes the `nth` recording or a piece of it, which the server accepts.
    async fn job(
        &self,
        nth: usize,
        sound: Sound,
        place: Place,
        is_piece: bool,
        lang: &str,
    ) -> Result<Transcript, Trouble> {
        let mut n_failed = 0;
        let mut counted_s = 0.0;
        let mut count = |job: &JobBody| {
            let transcribed_s = job.transcribed_s.unwrap_or_default();
            self.lengths.further(nth, transcribed_s - counted_s);
            counted_s = transcribed_s;
        };
        let job = loop {
            let request = self.settings.request(&sound.sha256, n_failed, is_piece, lang);
            let submitted = self.client.submit_speech_recognition(sound.source.clone(), &request).await;
            let submitted = submitted.map_err(|error| self.trouble(&error))?;
            let job = self.client.followed_job(submitted.id, PROGRESS_INTERVAL_S, &mut count).await;
            let job = job.map_err(|error| self.trouble(&error))?;
            self.pace.ended(&job);
            n_failed += 1;
            let may_pass = job.error.as_ref().is_some_and(|problem| problem.status >= 500);
            if !may_pass || n_failed == MAX_JOBS {
                break job;
            }
        };
        drop(place);
        transcript(job)
    }

    /// What a failed request means: for the recording, or for the whole run if others would fail too.
    fn trouble(&self, error: &ClientError) -> Trouble {
        match error {
            ClientError::Problem { problem, .. }
                if !matches!(problem.status, 401 | 403) && (problem.status == 500 || !error.may_pass()) =>
            {
                refused(problem)
            }
            error => Trouble::Run(elsewhere::failure(&self.base, error)),
        }
    }
}

/// Cuts a recording and sends the pieces. Returns what is unusual about the file. Ends early if nobody receives the pieces.
fn cut(mut recording: Source, pieces: &mpsc::Sender<CutPiece>) -> Result<Vec<String>, Undecodable> {
    let mut cutter = Cutter::default();
    while let Some(samples) = recording.next_second()? {
        if let Some(piece) = cutter.push(&samples)
            && pieces.blocking_send(piece.into()).is_err()
        {
            return Ok(Vec::new());
        }
    }
    for piece in cutter.finish() {
        // Nobody receives when the batch has ended early.
        let _ = pieces.blocking_send(piece.into());
    }
    Ok(recording.warnings().to_vec())
}

/// The transcript of a job that has ended.
fn transcript(job: JobBody) -> Result<Transcript, Trouble> {
    match (job.result, job.error) {
        (Some(JobResultBody::Transcription(mut body)), _) => Ok(Transcript {
            language: body.language.take(),
            body,
            duration_s: job.transcribed_s.unwrap_or_default(),
            jobs: vec![job.id],
            warnings: Warnings::of_job(job.warnings, job.probably_wrong),
            confidence: job.confidence,
        }),
        (_, Some(problem)) => Err(refused(&problem)),
        _ => Err(Trouble::Recording {
            code: "cancelled".to_owned(),
            reason: format!("job {} was cancelled", job.id),
        }),
    }
}

/// The reason in an error document.
fn refused(problem: &ProblemBody) -> Trouble {
    let details: Vec<&str> = problem.errors.iter().map(|violation| violation.detail.as_str()).collect();
    let code = problem.errors.first().map_or(problem.slug(), |violation| &violation.code).to_owned();
    let reason = if details.is_empty() { problem.detail.clone() } else { details.join("; ") };
    Trouble::Recording { code, reason }
}

/// What it means that a result cannot be written: for the recording, or for the whole run if others could not be written either.
fn unwritten((path, error): (PathBuf, io::Error)) -> Trouble {
    let what = format!("cannot write {}", path.display());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem => {
            Trouble::Run(Failure::io(what)(error))
        }
        _ => Trouble::Recording { code: "unwritable".to_owned(), reason: format!("{what}: {error}") },
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used in map_err")]
fn unreadable(error: io::Error) -> Trouble {
    Trouble::Recording { code: "unreadable".to_owned(), reason: format!("the file cannot be read: {error}") }
}
