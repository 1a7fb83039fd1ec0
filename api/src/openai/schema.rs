//! Describes the requests of the OpenAI-compatible routes to the OpenAPI document.

use utoipa::ToSchema;

/// A model's name.
#[derive(ToSchema)]
#[schema(as = AudioModel)]
#[expect(dead_code, reason = "describes the form to the OpenAPI document")]
pub(crate) enum ModelSchema {
    /// Transcribes Panjabi.
    #[schema(rename = "speech-pa")]
    Panjabi,
    /// Transcribes English.
    #[schema(rename = "speech-en")]
    English,
    /// Transcribes the language that `language` names.
    #[schema(rename = "whisper-1")]
    Whisper,
}

/// The name of a model that can translate into English.
#[derive(ToSchema)]
#[schema(as = AudioTranslationModel)]
#[expect(dead_code, reason = "describes the form to the OpenAPI document")]
pub(crate) enum TranslationModelSchema {
    /// Transcribes Panjabi.
    #[schema(rename = "speech-pa")]
    Panjabi,
    /// Here the same as `speech-pa`.
    #[schema(rename = "whisper-1")]
    Whisper,
}

/// How the response is written.
#[derive(ToSchema)]
#[schema(as = AudioFormat, rename_all = "snake_case")]
#[expect(dead_code, reason = "describes the form to the OpenAPI document")]
pub(crate) enum FormatSchema {
    /// A JSON object with the text.
    Json,
    /// The text alone.
    Text,
    /// Subtitles as `SubRip`.
    Srt,
    /// A JSON object with the text, its segments or words and the recording's length.
    VerboseJson,
    /// Subtitles as `WebVTT`.
    Vtt,
}

/// What has a time in the response.
#[derive(ToSchema)]
#[schema(as = AudioGranularity, rename_all = "lowercase")]
#[expect(dead_code, reason = "describes the form to the OpenAPI document")]
pub(crate) enum GranularitySchema {
    /// The segments.
    Segment,
    /// The words.
    Word,
}

/// The fields of a request for a transcription.
#[derive(ToSchema)]
#[schema(as = AudioTranscriptionForm, example = json!({"file": "(the bytes of a recording)", "model": "speech-pa"}))]
#[expect(dead_code, reason = "describes the form to the OpenAPI document")]
pub(crate) struct TranscriptionFormSchema {
    /// An MP3, WAV, FLAC, Ogg (Opus, Vorbis, FLAC), MPEG-4 (AAC) or WebM (Opus, Vorbis) file, by default at most
    /// 25 × 1024² bytes.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// The model.
    model: ModelSchema,
    /// The language that is spoken in the recording. It must be the model's language, if that has one.
    #[schema(value_type = crate::operations::speech_recognition::form::LanguageSchema, required = false)]
    language: String,
    /// How the response is written.
    #[schema(default = "json", required = false)]
    response_format: FormatSchema,
    /// What has a time. Only with `verbose_json`, for which the default is `segment`.
    #[schema(rename = "timestamp_granularities[]", required = false)]
    timestamp_granularities: Vec<GranularitySchema>,
    /// Not supported: only 0.
    #[schema(required = false, minimum = 0, maximum = 0)]
    temperature: f64,
    /// Whether to send the text as events while it is recognised. Only with `json`.
    #[schema(required = false, default = false)]
    stream: bool,
}

/// The fields of a request for a translation into English.
#[derive(ToSchema)]
#[schema(as = AudioTranslationForm, example = json!({"file": "(the bytes of a recording)", "model": "speech-pa"}))]
#[expect(dead_code, reason = "describes the form to the OpenAPI document")]
pub(crate) struct TranslationFormSchema {
    /// A recording in Panjabi, in one of the formats of transcriptions, by default at most 25 × 1024² bytes.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// The model.
    model: TranslationModelSchema,
    /// How the response is written.
    #[schema(default = "json", required = false)]
    response_format: FormatSchema,
    /// Not supported: only 0.
    #[schema(required = false, minimum = 0, maximum = 0)]
    temperature: f64,
}
