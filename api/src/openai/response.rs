//! Writes the outcome of a speech recognition job as the caller of an OpenAI-compatible route chose.

use std::{io::Write as _, time::Duration};

use akhar_client::{
    AudioLanguageBody, AudioLogprobBody, AudioResultBody, AudioSegmentBody, AudioTextBody, AudioUsageBody,
    AudioWordBody, DiarizedAudioSegmentBody, DiarizedAudioTextBody, SegmentBody, VerboseAudioTextBody,
    Warnings, subtitles,
};
use akhar_requests::{Job, Language, Outcome, Segment, SpeechParameters, Word};
use axum::{
    Json,
    http::header,
    response::{IntoResponse as _, Response},
};
use flate2::{Compression, write::ZlibEncoder};

use super::options::{Format, Granularity};
use crate::{
    outcomes::{
        body, response,
        warnings::{self, with_warnings},
    },
    problems::Problem,
};

/// What the response shows of a job.
#[derive(Debug)]
pub(crate) struct View {
    pub(super) speech: SpeechParameters,
    pub(super) format: Format,
    pub(super) granularities: Vec<Granularity>,
    /// Whether the words are shown with the probabilities that they are right.
    pub(super) with_logprobs: bool,
    /// What the warnings say about the request.
    pub(super) remarks: Vec<String>,
}

/// The parts of a transcription.
pub(super) struct Transcription {
    pub(super) text: String,
    pub(super) translation: Option<String>,
    segments: Vec<Segment>,
    pub(super) words: Vec<Word>,
    pub(super) seconds: f64,
    pub(super) warnings: Warnings,
    /// The language that was detected.
    language: Option<Language>,
}

impl Transcription {
    /// The words as tokens that together are the text. `None` if the model does not tell their probabilities.
    pub(super) fn logprobs(&self) -> Option<Vec<AudioLogprobBody>> {
        logprobs(self.words.iter().map(|word| (word.text.as_str(), word.confidence)))
    }
}

impl View {
    /// The response for a job that has ended, or the problem that it ended with. `total` is the time since the request
    /// arrived.
    pub(super) fn render(self, job: Job, total: Duration) -> Result<Response, Problem> {
        let timing = job.timing;
        let mut transcription = transcription(job, self.speech.translate_into.is_some())?;
        transcription.warnings.general.extend(self.remarks.iter().cloned());
        let warnings = transcription.warnings.clone();
        let response = with_warnings(self.body(transcription), &warnings);
        Ok(response::with_server_timing(response, timing, total))
    }

    fn body(&self, transcription: Transcription) -> Response {
        let of_type = |media_type: &'static str, text: String| {
            ([(header::CONTENT_TYPE, media_type)], text).into_response()
        };
        let layout = response::layout(self.speech.subtitles);
        match self.format {
            Format::Text => {
                let translation = transcription.translation.map(|text| format!("\n{text}\n"));
                let text = format!("{}\n{}", transcription.text, translation.unwrap_or_default());
                of_type("text/plain; charset=utf-8", text)
            }
            Format::Srt => {
                of_type("application/x-subrip; charset=utf-8", subtitles::srt(&cues(transcription), layout))
            }
            Format::Vtt => of_type("text/vtt; charset=utf-8", subtitles::vtt(&cues(transcription), layout)),
            Format::Json => {
                let usage = usage(transcription.seconds);
                let logprobs = self.with_logprobs.then(|| transcription.logprobs()).flatten();
                let languages = languages(&transcription, self.speech.lang);
                let Transcription { text, translation, .. } = transcription;
                let text = AudioTextBody { usage, text, translation, logprobs, languages };
                Json(AudioResultBody::Text(text)).into_response()
            }
            Format::DiarizedJson => Json(AudioResultBody::Diarized(diarized(transcription))).into_response(),
            Format::VerboseJson => {
                Json(AudioResultBody::Verbose(self.verbose(transcription))).into_response()
            }
        }
    }

    fn verbose(&self, transcription: Transcription) -> VerboseAudioTextBody {
        let SpeechParameters { lang, translate_into, .. } = self.speech;
        let task = if translate_into.is_some() { "translate" } else { "transcribe" };
        let language = translate_into.or(transcription.language).unwrap_or(lang);
        let segments = self.granularities.contains(&Granularity::Segment).then(|| {
            let segment = |(id, s): (usize, Segment)| AudioSegmentBody {
                id,
                start: s.start,
                end: s.end,
                seek: 0,
                temperature: 0.0,
                tokens: Vec::new(),
                avg_logprob: s.confidence.map_or(0.0, log_probability),
                compression_ratio: compression_ratio(&s.transcription),
                no_speech_prob: 0.0,
                confidence: s.confidence,
                text: s.transcription,
                translation: s.translation,
            };
            transcription.segments.into_iter().enumerate().map(segment).collect()
        });
        let words = self.granularities.contains(&Granularity::Word).then(|| {
            let word = |Word { text, start, end, confidence, .. }| AudioWordBody {
                word: text,
                start,
                end,
                confidence,
            };
            transcription.words.into_iter().map(word).collect()
        });
        VerboseAudioTextBody {
            task: task.to_owned(),
            language: name(language).to_owned(),
            duration: transcription.seconds,
            text: transcription.text,
            translation: transcription.translation,
            segments,
            words,
            warnings: transcription.warnings.sentences(),
            usage: usage(transcription.seconds),
        }
    }
}

/// The parts of a job's outcome, or the problem that the job ended with. The texts are those of the translation if the
/// response shows it.
pub(super) fn transcription(job: Job, is_translation: bool) -> Result<Transcription, Problem> {
    let warnings = warnings::warnings(job.outcome.as_ref());
    let Some(Outcome::Transcription {
        transcription, translation, timestamps, words, seconds, language, ..
    }) = job.outcome
    else {
        body::body(job.operation, job.state, job.outcome)?;
        return Err(Problem::internal("the outcome of a speech job is the outcome of another operation"));
    };
    let mut segments = timestamps.unwrap_or_default();
    if is_translation {
        for segment in &mut segments {
            segment.transcription = segment.translation.take().unwrap_or_default();
        }
    }
    let (text, translation) =
        if is_translation { (translation.unwrap_or_default(), None) } else { (transcription, translation) };
    Ok(Transcription {
        text,
        translation,
        segments,
        words: words.unwrap_or_default(),
        seconds,
        warnings,
        language,
    })
}

/// The language that was detected, or the one that the request names. None of a recording without speech.
pub(super) fn languages(transcription: &Transcription, named: Language) -> Vec<AudioLanguageBody> {
    let language = transcription.language.unwrap_or(named);
    let is_spoken = !transcription.text.is_empty();
    is_spoken.then(|| AudioLanguageBody { code: language.code().to_owned() }).into_iter().collect()
}

fn cues(Transcription { segments, words, .. }: Transcription) -> Vec<SegmentBody> {
    body::with_words(segments, Some(words))
}

fn diarized(transcription: Transcription) -> DiarizedAudioTextBody {
    let segment = |(id, s): (usize, Segment)| DiarizedAudioSegmentBody {
        kind: "transcript.text.segment".to_owned(),
        id: format!("seg_{id}"),
        start: s.start,
        end: s.end,
        text: s.transcription,
        translation: s.translation,
        speaker: char::from(b'A' + s.channel.unwrap_or(1).clamp(1, 26) - 1).to_string(),
    };
    DiarizedAudioTextBody {
        task: "transcribe".to_owned(),
        duration: transcription.seconds,
        text: transcription.text,
        translation: transcription.translation,
        segments: transcription.segments.into_iter().enumerate().map(segment).collect(),
        usage: usage(transcription.seconds),
    }
}

pub(crate) fn usage(seconds: f64) -> AudioUsageBody {
    AudioUsageBody { kind: "duration".to_owned(), seconds }
}

/// The words as tokens that together are the text. `None` if the model does not tell their probabilities.
pub(crate) fn logprobs<'a>(
    words: impl Iterator<Item = (&'a str, Option<f64>)>,
) -> Option<Vec<AudioLogprobBody>> {
    let token = |(nth, (text, confidence)): (usize, (&str, Option<f64>))| {
        let space = if nth == 0 { "" } else { " " };
        let token = format!("{space}{text}");
        let bytes = token.clone().into_bytes();
        Some(AudioLogprobBody { token, logprob: log_probability(confidence?), bytes })
    };
    words.enumerate().map(token).collect()
}

/// The natural logarithm of a confidence. The smallest one above 0 that is stored stands for 0, which has no logarithm.
fn log_probability(confidence: f64) -> f64 {
    confidence.max(1e-3).ln()
}

/// How often a text repeats itself, as Whisper measures it: its bytes divided by those that zlib makes of it.
fn compression_ratio(text: &str) -> f64 {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    let n_compressed =
        zlib.write_all(text.as_bytes()).and_then(|()| zlib.finish()).map_or(0, |bytes| bytes.len());
    let [n_bytes, n_compressed] = [text.len(), n_compressed].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    f64::from(n_bytes) / f64::from(n_compressed.max(1)) // writing to memory does not fail
}

/// The name that Whisper has for the language.
const fn name(language: Language) -> &'static str {
    match language {
        Language::Panjabi => "punjabi",
        Language::English => "english",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_that_of_zlib() {
        // In Python: len(text.encode()) / len(zlib.compress(text.encode())). Its zlib finds other repetitions in short texts.
        for (text, expected) in
            [("", 0.0), ("The weather is very nice today.", 31.0 / 39.0), ("ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ", 55.0 / 60.0)]
        {
            let ratio = compression_ratio(text);
            assert!((ratio - expected).abs() < 0.1, "{text}: {ratio}");
        }
        assert!(compression_ratio(&"ਅਤੇ ".repeat(100)) > 10.0, "a text that repeats itself");
    }

    #[test]
    fn every_confidence_has_a_logarithm() {
        assert!(log_probability(0.0) < -6.0 && log_probability(0.0).is_finite());
        assert!(log_probability(1.0).abs() < 1e-9);
    }
}
