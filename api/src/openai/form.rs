//! The forms of the OpenAI-compatible routes.

use akhar_jobs::{Bounded, Language, MediaType, Queue, SpeechParameters};
use serde_json::json;

use super::{
    options::{Format, Granularity, Model, TranslationModel, Unsupported},
    response::View,
};
use crate::{
    input::{
        field::{File, field},
        fields::fields,
        form::Form,
    },
    problems::{Code, Violation},
};

fields! {
    /// The fields of a request for a transcription.
    AudioTranscriptionForm {
        /// The model.
        model: Model = field("model").required(),
        /// The language that is spoken in the recording. It must be the model's language, if that has one.
        language: Language = field("language").wrong("fr"),
        /// How the response is written.
        response_format: Format = field("response_format").or("json"),
        /// What has a time. Only with `verbose_json`, for which the default is `segment`.
        granularities: Vec<Granularity> = field("timestamp_granularities[]"),
        _prompt: Unsupported = field("prompt").only(&[""]),
        /// Not supported: only 0.
        _temperature: Bounded<f64, 0, 0> = field("temperature").only(&["0", "0.0"]),
        /// Whether to send the text as events while it is recognised. Only with `json`.
        stream: bool = field("stream").or("false"),
        _include: Vec<Unsupported> = field("include[]").only(&[]),
        _chunking: Unsupported = field("chunking_strategy").only(&["auto"]),
    }
}

fields! {
    /// The fields of a request for a translation into English.
    AudioTranslationForm {
        /// The model.
        model: TranslationModel = field("model").required().wrong("speech-en"),
        /// How the response is written.
        response_format: Format = field("response_format").or("json"),
        _prompt: Unsupported = field("prompt").only(&[""]),
        /// Not supported: only 0.
        _temperature: Bounded<f64, 0, 0> = field("temperature").only(&["0", "0.0"]),
    }
}

/// The file of both forms.
const fn recording(text: &'static str) -> File {
    File {
        text,
        max_bytes: None,
        types: MediaType::RECORDINGS,
        if_other: Some("`akhar transcribe` takes other formats if ffmpeg is installed"),
        if_larger: Some("`akhar transcribe` cuts long recordings"),
    }
}

fn example() -> serde_json::Value {
    json!({"file": "(the bytes of a recording)", "model": "speech-pa"})
}

impl Form for AudioTranscriptionForm {
    const FILE: Option<File> = Some(recording("A recording, by default at most 25 × 1024² bytes."));
    const QUEUE: Queue = Queue::Speech;
    /// What the response shows, and whether it is sent while it is recognised.
    type Checked = (View, bool);

    fn check(self, violations: &mut Vec<Violation>) -> Option<(View, bool)> {
        let mut refuse = |name, code, detail| violations.push(Violation::new(name, code, detail));
        if let (Some(model), Some(language)) = (self.model, self.language)
            && let Some(only) = model.language().filter(|only| *only != language)
        {
            let (model, language, only) = (model.id(), language.code(), only.code());
            let detail =
                format!("language is {language}, but model {model} transcribes {only}: expected {only}");
            refuse("language", Code::NotAChoice, detail);
        }
        if let Some(format) = self.response_format {
            let needs = |name: &str, needed: Format| {
                let [needed, format] = [needed, format].map(Format::name);
                format!("{name} needs response_format {needed}, but response_format is {format}")
            };
            if self.granularities.is_some() && format != Format::VerboseJson {
                let name = "timestamp_granularities[]";
                refuse(name, Code::Unsupported, needs(name, Format::VerboseJson));
            }
            if self.stream == Some(true) && format != Format::Json {
                refuse("stream", Code::Unsupported, needs("stream", Format::Json));
            }
        }
        let format = self.response_format?;
        let granularities = self.granularities.unwrap_or_else(|| vec![Granularity::Segment]);
        let speech = SpeechParameters {
            lang: self.language.or(self.model?.language()).unwrap_or(Language::Panjabi),
            with_translation: false,
            with_timestamps: format.has_segments(),
            with_words: granularities.contains(&Granularity::Word),
        };
        Some((View { speech, format, granularities }, self.stream?))
    }

    fn example() -> Option<serde_json::Value> {
        Some(example())
    }
}

impl Form for AudioTranslationForm {
    const FILE: Option<File> =
        Some(recording("A recording in Panjabi, by default at most 25 × 1024² bytes."));
    const QUEUE: Queue = Queue::Speech;
    type Checked = View;

    fn check(self, _: &mut Vec<Violation>) -> Option<View> {
        self.model?;
        let format = self.response_format?;
        let speech = SpeechParameters {
            lang: Language::Panjabi,
            with_translation: true,
            with_timestamps: format.has_segments(),
            with_words: false,
        };
        Some(View { speech, format, granularities: vec![Granularity::Segment] })
    }

    fn example() -> Option<serde_json::Value> {
        Some(example())
    }
}
