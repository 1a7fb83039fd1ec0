//! Transcribes one recording of a run: reads it, cuts it if it is long or of another format, sends it, and writes the results.

use std::{fs, future::ready, sync::Arc, time::Duration};

use akhar_client::{
    Client, ClientError, GroupBody, JobBody, JobResultBody, MAX_RECORDING_BYTES, RecordingSource, Warnings,
};
use akhar_platform::blocking::blocking;
use akhar_worker::Recording;
use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Interval, interval},
};
use url::Url;
use uuid::Uuid;

use super::{
    inputs::{Input, Reader},
    join::Transcript,
    journal::{Entry, Failed, Journal},
    lengths::Lengths,
    outputs::{MAX_NAME_BYTES, Outputs},
    pace::{Pace, Place},
    settings::{Settings, sha256},
    source::Encoded,
    trouble::Trouble,
    untranscribed::Untranscribed,
};
use crate::{elsewhere, failure::Failure};

/// How many jobs a recording may have that fail for a reason of the server, such as workers that die.
const MAX_JOBS: u32 = 3;
/// How often the progress of a job and the counts of the group are asked for, seconds.
const PROGRESS_INTERVAL_S: u8 = 5;
/// The warning of a recording whose text is empty.
const NO_WORDS: &str =
    "no words were recognised: nothing may be said in it, or the model did not understand it";

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
    /// It failed in an earlier run too, for the same reason.
    Known(Untranscribed),
}

/// What is sent of a recording.
enum Content<'a> {
    /// The server takes it as it is.
    Whole { sound: Sound, place: Place },
    /// It is decoded and cut here.
    Cut { encoded: Encoded, memory: Option<SemaphorePermit<'a>> },
}

/// A recording in memory, a piece of one as a WAV file, or a recording that the server fetches.
#[derive(Debug, Clone)]
pub(super) struct Sound {
    source: RecordingSource,
    /// The SHA-256 of the bytes or of the URL.
    sha256: String,
}

impl Sound {
    pub(super) fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { sha256: sha256(&bytes), source: bytes.into() }
    }

    fn of_url(url: &Url) -> Self {
        Self { sha256: sha256(url.as_str().as_bytes()), source: RecordingSource::Url(url.to_string()) }
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
        let (sha256, ended) = match self.read(input).await {
            Ok((sha256, content)) => {
                let ended = self.try_transcribe(nth, input, &sha256, content).await;
                (Some(sha256), ended)
            }
            Err(trouble) => (None, Err(trouble)),
        };
        let ended = match ended {
            Ok(ended) => ended,
            Err(Trouble::Recording { code, reason }) => {
                let path = input.path.to_string_lossy().into_owned();
                self.failed(Untranscribed { path, code, reason }, sha256).await?
            }
            Err(Trouble::Run(failure)) => return Err(failure),
        };
        self.lengths.ended(nth, if let Ended::Transcribed(entry) = &ended { entry.duration_s } else { 0.0 });
        Ok(ended)
    }

    /// Notes that a file has failed. `sha256`: that of its contents, if they were read.
    pub(super) async fn failed(
        self: &Arc<Self>,
        failure: Untranscribed,
        sha256: Option<String>,
    ) -> Result<Ended, Failure> {
        let batch = self.clone();
        let failed = Failed { failure: failure.clone(), sha256, decoders: self.decoders() };
        let is_known = blocking(move || batch.journal.add_failed(&failed)).await?;
        Ok(if is_known { Ended::Known(failure) } else { Ended::Failed(failure) })
    }

    /// What decodes recordings here.
    fn decoders(&self) -> String {
        let ffmpeg = if self.has_ffmpeg { " and ffmpeg" } else { "" };
        format!("akhar {}{ffmpeg}", env!("CARGO_PKG_VERSION"))
    }

    /// Reads a recording, when there is room for it, or takes its URL. Returns the SHA-256 of it too. Whether the file behind a
    /// URL is still the same is not known here, and a signature in the query may be another one, so that of a URL leaves out the
    /// query.
    async fn read(&self, input: &Input) -> Result<(String, Content<'_>), Trouble> {
        self.check_name(input)?;
        if let Some(url) = &input.url {
            let place = self.pace.place().await;
            let sha256 = sha256(input.path.as_os_str().as_encoded_bytes());
            return Ok((sha256, Content::Whole { sound: Sound::of_url(url), place }));
        }
        let n_bytes = tokio::fs::metadata(&input.path).await.map_err(Trouble::unreadable)?.len();
        let (path, has_ffmpeg) = (input.path.clone(), self.has_ffmpeg);
        let reader = blocking(move || Reader::of(&path, has_ffmpeg)).await.map_err(Trouble::unreadable)?;
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
        let (sound, bytes) = read.await.map_err(Trouble::unreadable)?;
        let sha256 = sound.sha256.clone();
        let content = match place {
            Some(place) => Content::Whole { sound, place },
            None if reader == Reader::Ffmpeg => {
                Content::Cut { encoded: Encoded::Foreign(input.path.clone()), memory }
            }
            None => Content::Cut { encoded: Encoded::Own(bytes), memory },
        };
        Ok((sha256, content))
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

    /// Transcribes a recording with this SHA-256, unless an earlier run has done that or could not decode it.
    async fn try_transcribe(
        self: &Arc<Self>,
        nth: usize,
        input: &Input,
        sha256: &str,
        content: Content<'_>,
    ) -> Result<Ended, Trouble> {
        if let Some(ended) = self.earlier(input, sha256) {
            return Ok(ended);
        }
        let is_foreign = matches!(&content, Content::Cut { encoded: Encoded::Foreign(_), .. });
        let transcript = match content {
            Content::Whole { sound, place } => {
                if let RecordingSource::File(bytes) = sound.source.clone() {
                    // The server says what is wrong with a recording that cannot be opened.
                    let length_s = move || Recording::open(bytes, None).map(|recording| recording.length_s());
                    if let Ok(length_s) = blocking(length_s).await {
                        self.lengths.opened(nth, length_s);
                    }
                }
                self.job(nth, sound, place, false, self.settings.lang().name()).await
            }
            Content::Cut { encoded, memory } => self.channels(nth, encoded, memory).await,
        };
        let has_other_decoder = self.has_ffmpeg && !is_foreign && input.url.is_none();
        let transcript = match transcript {
            Err(trouble) if has_other_decoder && trouble.is_of_decoder() => {
                let memory = self.memory.acquire().await.ok();
                let foreign = self.channels(nth, Encoded::Foreign(input.path.clone()), memory).await;
                // If ffmpeg cannot read it either, the first reason is the better one.
                foreign.map_err(|other| other.unless_of_recording(trouble))
            }
            transcript => transcript,
        };
        self.write(input, sha256.to_owned(), transcript?).await
    }

    /// What an earlier run has done with this content of a recording: its results exist, or it could not be decoded.
    fn earlier(&self, input: &Input, sha256: &str) -> Option<Ended> {
        let done = self.journal.done(&input.name.to_string_lossy(), sha256);
        if let Some(entry) = done.filter(|_| self.outputs.exist(input, &self.settings)) {
            return Some(Ended::Earlier(entry.clone()));
        }
        let undecodable = self.journal.undecodable(&input.path.to_string_lossy(), sha256, &self.decoders());
        undecodable.cloned().map(Ended::Known)
    }

    /// Writes the results of a recording, and deletes its jobs if that is asked for.
    async fn write(
        self: &Arc<Self>,
        input: &Input,
        sha256: String,
        mut transcript: Transcript,
    ) -> Result<Ended, Trouble> {
        let n_words = transcript.body.transcription.split_whitespace().count();
        if n_words == 0 {
            transcript.warnings.general.push(NO_WORDS.to_owned());
        }
        let entry = Entry {
            name: input.name.to_string_lossy().into_owned(),
            sha256,
            duration_s: transcript.duration_s,
            n_words,
            confidence: transcript.confidence,
            warnings: transcript.warnings.sentences(),
        };
        let batch = self.clone();
        let input = input.clone();
        let written = blocking(move || {
            batch.outputs.write(&input, &batch.settings, &transcript).map_err(Trouble::unwritten)?;
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

    /// Transcribes the `nth` recording or a piece of it, which the server accepts.
    pub(super) async fn job(
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
                Trouble::refused(problem)
            }
            error => Trouble::Run(elsewhere::failure(&self.base, error)),
        }
    }
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
        (_, Some(problem)) => Err(Trouble::refused(&problem)),
        _ => Err(Trouble::Recording {
            code: "cancelled".to_owned(),
            reason: format!("job {} was cancelled", job.id),
        }),
    }
}
