//! The forms of the OpenAI-compatible routes: parses and checks their fields.

use akhar_jobs::{Language, Queue, SpeechParameters, Upload};
use axum::extract::{FromRequest, Request};

use super::{
    Model,
    options::{
        CHUNKING, FILE, Format, GRANULARITIES, Granularity, INCLUDE, LANGUAGE, MODEL, PROMPT,
        RESPONSE_FORMAT, STREAM, TEMPERATURE, format, granularities, is_streamed, model, refuse_unsupported,
    },
};
use crate::{
    app::App,
    input::{
        choice,
        fields::{Field, Kind},
        multipart::{self, Form},
        query, sniff,
    },
    problems::{Code, Problem, Violation},
};

/// The checked fields of a request for a transcription.
#[derive(Debug)]
pub(crate) struct TranscriptionForm {
    pub(super) upload: Upload,
    pub(super) speech: SpeechParameters,
    pub(super) format: Format,
    pub(super) granularities: Vec<Granularity>,
    pub(super) is_streamed: bool,
}

/// The checked fields of a request for a translation into English.
#[derive(Debug)]
pub(crate) struct TranslationForm {
    pub(super) upload: Upload,
    pub(super) speech: SpeechParameters,
    pub(super) format: Format,
}

const fn text(name: &'static str) -> Field {
    Field { name, kind: Kind::Text }
}

const fn texts(name: &'static str) -> Field {
    Field { name, kind: Kind::Texts }
}

const fn file(max_bytes: usize) -> Field {
    Field { name: FILE, kind: Kind::File { max_bytes } }
}

impl FromRequest<App> for TranscriptionForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let fields = [
            file(app.max_audio_bytes()),
            text(MODEL),
            text(LANGUAGE),
            text(RESPONSE_FORMAT),
            texts(GRANULARITIES),
            text(PROMPT),
            text(TEMPERATURE),
            text(STREAM),
            texts(INCLUDE),
            text(CHUNKING),
        ];
        let mut form = read(request, &fields, app).await?;
        let upload = upload(&mut form);
        let model = model(&mut form);
        let lang = language(&mut form, model);
        let format = format(&mut form);
        let granularities = granularities(&mut form, format);
        let is_streamed = is_streamed(&mut form, format);
        refuse_unsupported(&mut form);
        let speech = SpeechParameters {
            lang,
            with_translation: false,
            with_timestamps: format.has_segments(),
            with_words: granularities.contains(&Granularity::Word),
        };
        let upload = checked(upload, form)?;
        Ok(Self { upload, speech, format, granularities, is_streamed })
    }
}

impl FromRequest<App> for TranslationForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let fields = [
            file(app.max_audio_bytes()),
            text(MODEL),
            text(RESPONSE_FORMAT),
            text(PROMPT),
            text(TEMPERATURE),
        ];
        let mut form = read(request, &fields, app).await?;
        let upload = upload(&mut form);
        let model = model(&mut form);
        if model.language() == Some(Language::English) {
            let detail = format!(
                "{MODEL} is {}, which transcribes English, but translations are into English: expected {}",
                Model::English.id(),
                Model::Panjabi.id()
            );
            form.violations.push(Violation::new(MODEL, Code::NotAChoice, detail));
        }
        let format = format(&mut form);
        refuse_unsupported(&mut form);
        let speech = SpeechParameters {
            lang: Language::Panjabi,
            with_translation: true,
            with_timestamps: format.has_segments(),
            with_words: false,
        };
        let upload = checked(upload, form)?;
        Ok(Self { upload, speech, format })
    }
}

async fn read(request: Request, fields: &[Field], app: &App) -> Result<Form, Problem> {
    let unexpected = query::unexpected(request.uri());
    let mut form = multipart::read(request, fields, &app.body_memory(Queue::Speech)).await?;
    form.violations.extend(unexpected);
    Ok(form)
}

fn upload(form: &mut Form) -> Option<Upload> {
    form.upload(FILE, sniff::any_audio, "an MP3, WAV, FLAC, Ogg, MP4 or WebM file")
}

/// The upload, if the form has no violation.
fn checked(upload: Option<Upload>, form: Form) -> Result<Upload, Problem> {
    upload.filter(|_| form.violations.is_empty()).ok_or_else(|| Problem::violations(form.violations))
}

/// The spoken language: the one that the request names, else that of the model, else Panjabi. A violation if the two
/// differ.
fn language(form: &mut Form, model: Model) -> Language {
    let Some(code) = form.text(LANGUAGE) else { return model.language().unwrap_or_default() };
    let chosen = choice::one_of(LANGUAGE, &code, &Language::ALL.map(Language::code));
    let chosen = chosen.map(|nth| Language::ALL.get(nth).copied().unwrap_or_default());
    let chosen = chosen.and_then(|language| match model.language() {
        Some(other) if other != language => {
            let detail = format!(
                "{LANGUAGE} is {code}, but {MODEL} {} transcribes {}: expected {}",
                model.id(),
                other.code(),
                other.code()
            );
            Err(Violation::new(LANGUAGE, Code::NotAChoice, detail))
        }
        _ => Ok(language),
    });
    chosen.unwrap_or_else(|violation| {
        form.violations.push(violation);
        Language::default()
    })
}
