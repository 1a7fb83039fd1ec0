//! Detects the language of a recording: its first seconds of speech come in, and the language goes out, with what each model
//! wrote of them, so that the model of that language need not read them again.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use akhar_inference::{
    Confidence,
    speech::{ENOUGH_SAMPLES, Evidence, Transcript, is_certain, is_unsure, likeliest},
};
use akhar_requests::{Language, SpeechParameters};

use super::{
    error::OperationError,
    language_engine::{LanguageEngine, Recognising, SpeechInput, cost},
    lazy_model::LazyModel,
    preparation::{Prepared, prepare},
};
use crate::{
    decode::{
        audio::{AudioLimits, Channels},
        job_file::JobFile,
    },
    decoding::DecodingTurns,
    fair_queue::Turn,
};

/// What is known of the language of a recording.
#[derive(Default)]
pub(super) struct Detected {
    /// The language, if one is clearly likelier than the other.
    pub(super) language: Option<Language>,
    /// What the models wrote of the first windows.
    pub(super) transcripts: HashMap<Language, VecDeque<Transcript>>,
    /// Why there is no language, unless nothing is said, or that it is uncertain.
    pub(super) warning: Option<String>,
}

/// What one model wrote.
struct Read {
    confidence: Option<Confidence>,
    transcripts: VecDeque<Transcript>,
    spent: Recognising,
}

impl Read {
    /// The evidence for the whole text. `None` if the model has no calibrated confidence.
    fn text(&self) -> Option<(Evidence, Confidence)> {
        Some((self.transcripts.iter().map(Transcript::evidence).sum(), self.confidence?))
    }
}

/// Detects the language of a recording, whose channels are mixed. `turn` gives the turn of a window, by its cost. Calls `step` while decoding goes on. A recording that cannot be decoded has none.
pub(super) async fn detect(
    engines: &HashMap<Language, Arc<LazyModel<LanguageEngine>>>,
    parameters: &SpeechParameters,
    file: &JobFile,
    limits: &AudioLimits,
    (turns, turn): (&DecodingTurns, impl Fn(u64) -> Turn),
    step: impl Fn(),
    spent: &mut Recognising,
) -> Result<Detected, OperationError> {
    let mut detected = Detected::default();
    let mut languages = Vec::new();
    let mut texts = Vec::new();
    // One after the other, because most texts need no comparison.
    for (language, engine) in
        Language::ALL.into_iter().filter_map(|language| Some((language, engines.get(&language)?)))
    {
        let file = (file.clone(), limits.clone());
        let read = read(engine.get().await?, (language, parameters), file, (turns, &turn), &step).await?;
        *spent += read.spent;
        let text = read.text();
        detected.transcripts.insert(language, read.transcripts);
        if text.as_ref().is_some_and(is_certain) {
            detected.language = Some(language);
            return Ok(detected);
        }
        languages.push(language);
        texts.extend(text);
    }
    let is_calibrated = texts.len() == languages.len();
    let found = likeliest(&texts).filter(|_| is_calibrated);
    detected.language = found.map(|place| languages[place]);
    let is_text = texts.iter().any(|(evidence, _)| evidence.n_letters() > 0);
    let not_detected = |reason: &str| {
        format!("the language was not detected, because {reason}: {} was taken", parameters.lang.code())
    };
    detected.warning = match found {
        None if !is_calibrated => Some(not_detected("a model has no calibrated confidence")),
        None if is_text => Some(not_detected("the text of each language is about as likely")),
        Some(place) if is_low(&texts[place]) => Some(format!(
            "the language may be neither Panjabi nor English: {} was taken",
            languages[place].code()
        )),
        _ => None,
    };
    Ok(detected)
}

fn is_low((evidence, confidence): &(Evidence, Confidence)) -> bool {
    evidence.is_low(confidence)
}

/// The other language, if it is clearly likelier than the one of the request, whose model wrote a text with this evidence. The other
/// model reads the beginning only if the text is so unlikely that it may be of another language.
pub(super) async fn heard_instead(
    engines: &HashMap<Language, Arc<LazyModel<LanguageEngine>>>,
    (parameters, text): (&SpeechParameters, (Evidence, Option<Confidence>)),
    file: (JobFile, AudioLimits),
    turns: (&DecodingTurns, impl Fn(u64) -> Turn),
    step: impl Fn(),
    spent: &mut Recognising,
) -> Result<Option<Language>, OperationError> {
    let language = parameters.lang.other();
    let (evidence, Some(confidence)) = text else { return Ok(None) };
    let written = (evidence, confidence);
    let Some(engine) = engines.get(&language).filter(|_| is_unsure(&written)) else { return Ok(None) };
    let read = read(engine.get().await?, (language, parameters), file, turns, &step).await?;
    *spent += read.spent;
    let other = read.text().filter(|other| !is_low(other));
    Ok(other.filter(|other| likeliest(&[written, *other]) == Some(1)).map(|_| language))
}

/// What the model of one language writes of the first windows. Most of them have enough sound alone.
async fn read(
    engine: &LanguageEngine,
    (language, parameters): (Language, &SpeechParameters),
    file: (JobFile, AudioLimits),
    (turns, turn): (&DecodingTurns, impl Fn(u64) -> Turn),
    step: impl Fn(),
) -> Result<Read, OperationError> {
    let (terms, _) = engine.terms(&parameters.keyterms);
    let opened = prepare(file, Channels::Mixed, engine.input(), (turns, turn(1)), &step).await?;
    let mut track = opened.ok().and_then(|mut tracks| tracks.pop());
    let mut transcripts = VecDeque::new();
    let mut spent = Recognising::default();
    let mut n_samples = 0;
    while n_samples < ENOUGH_SAMPLES
        && let Some(track) = &mut track
        && let Prepared::Window(window, features) = track.next(&step).await?
    {
        n_samples += window.samples.len();
        let input = SpeechInput { features, language, terms: terms.clone() };
        transcripts.push_back(engine.recognise(turn(cost(&window)), input, &mut spent).await?);
    }
    Ok(Read { confidence: engine.confidence, transcripts, spent })
}
