//! The form of a speech recognition request: parses and checks its fields.

use akhar_jobs::{Language, Queue, SpeechParameters, Upload};
use axum::extract::{FromRequest, Request};
use utoipa::ToSchema;

use crate::{
    app::App,
    input::{
        choice,
        fields::{Field, Kind},
        multipart, query, sniff,
    },
    problems::Problem,
};

/// The size limit of a recording, inclusive: 2 × 1024² bytes.
pub(crate) const MAX_AUDIO_BYTES: usize = akhar_client::MAX_RECORDING_BYTES;
const FILE: &str = "file";
const LANG: &str = "lang";
const WITH_TRANSLATION: &str = "with-translation";
const WITH_TIMESTAMPS: &str = "with-timestamps";
const FIELDS: [Field; 4] = [
    Field { name: FILE, kind: Kind::File { max_bytes: MAX_AUDIO_BYTES } },
    Field { name: LANG, kind: Kind::Text },
    Field { name: WITH_TRANSLATION, kind: Kind::Text },
    Field { name: WITH_TIMESTAMPS, kind: Kind::Text },
];

/// The checked fields of a speech recognition request. No later code checks them again.
#[derive(Debug)]
pub(crate) struct SpeechForm {
    pub(crate) upload: Upload,
    pub(crate) speech: SpeechParameters,
}

/// The fields of a speech recognition request.
#[derive(ToSchema)]
#[schema(as = SpeechForm, example = json!({"file": "(the bytes of an mp3 or wav file)", "lang": "pa"}))]
#[expect(dead_code, reason = "describes the form to the OpenAPI document")]
pub(crate) struct SpeechFormSchema {
    /// An mp3 or wav recording, at most 2 × 1024² bytes.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// The language that is spoken in the recording.
    #[schema(value_type = LanguageSchema, default = "pa", required = false)]
    lang: Language,
    /// Whether to translate the text: Panjabi into English, English into Panjabi.
    #[schema(rename = "with-translation", default = false, required = false)]
    with_translation: bool,
    /// Whether to return the segments with their times.
    #[schema(rename = "with-timestamps", default = false, required = false)]
    with_timestamps: bool,
}

/// A language of speech.
#[derive(ToSchema)]
#[schema(as = Language, rename_all = "lowercase")]
#[expect(dead_code, reason = "describes akhar_jobs::Language to the OpenAPI document")]
pub(crate) enum LanguageSchema {
    /// Panjabi.
    Pa,
    /// English.
    En,
}

impl FromRequest<App> for SpeechForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let unexpected = query::unexpected(request.uri());
        let mut form = multipart::read(request, &FIELDS, &app.body_memory(Queue::Speech)).await?;
        form.violations.extend(unexpected);
        let upload = form.upload(FILE, sniff::audio, "an MP3 or WAV file");
        let languages = Language::ALL.map(Language::code);
        let lang = form.value(LANG, |name, text| choice::one_of(name, text, &languages));
        let lang = Language::ALL.get(lang).copied().unwrap_or_default();
        let with_translation = form.value(WITH_TRANSLATION, choice::boolean);
        let with_timestamps = form.value(WITH_TIMESTAMPS, choice::boolean);
        match upload {
            Some(upload) if form.violations.is_empty() => {
                let with_words = false;
                let speech = SpeechParameters { lang, with_translation, with_timestamps, with_words };
                Ok(Self { upload, speech })
            }
            _ => Err(Problem::violations(form.violations)),
        }
    }
}
