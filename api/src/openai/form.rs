//! The forms of the OpenAI-compatible routes.

use akhar_jobs::Queue;
use akhar_requests::{
    Bounded, Channels, Digits, KeyTerm, Language, MaxLineLength, MaxLines, MediaType, SPEECH, Script,
    SpeechParameters, SubtitleSize, key_term::MAX_TERMS,
};
use serde_json::json;

use super::{
    chunking::{Chunking, ServerVad},
    language::SpokenLanguage,
    options::{
        Format, Granularity, Keyword, Logprobs, Model, TranslationFormat, TranslationModel, Unsupported,
        Unused,
    },
    response::View,
};
use crate::{
    input::{
        field::{File, field},
        fields::fields,
        form::Form,
    },
    operations::speech_recognition::form::{DIGITS_NEED_WRITTEN, RECORDING_URL, TextForm},
    problems::{Code, Violation},
};

fields! {
    /// The fields of a request for a transcription.
    AudioTranscriptionForm {
        /// The model.
        model: Model = field("model").required(),
        /// The language that is spoken in the recording: a tag of BCP 47 or an English name. It must be the model's language,
        /// if that has one. If neither names one, it is detected.
        language: SpokenLanguage = field("language").wrong("fr"),
        /// Languages that can be spoken in the recording. Without `language`, one alone counts, and of several the language
        /// is detected.
        languages: Vec<SpokenLanguage> = field("languages[]"),
        /// How the response is written.
        response_format: Format = field("response_format").or("json"),
        /// What has a time in `verbose_json`, for which the default is `segment`. Has no effect on other formats.
        granularities: Vec<Granularity> = field("timestamp_granularities[]"),
        /// Whether to send the text as events while it is recognised. Only with `json`.
        stream: bool = field("stream").or("false"),
        /// Has no effect.
        prompt: Unused = field("prompt"),
        /// Terms that the recording is likely to have, such as names.
        keywords: Vec<Keyword> = field("keywords[]"),
        more_keywords: Vec<Keyword> = field("keywords"),
        /// Has no effect.
        temperature: Bounded<f64, 0, 1> = field("temperature").neutral("0"),
        /// Whether to send the words with the probabilities that they are right. Only with `json`.
        include: Vec<Logprobs> = field("include[]"),
        /// How to cut the recording. The server decides, so an object has no effect.
        chunking: Chunking = field("chunking_strategy").neutral("auto"),
        /// Has no effect, as the other members of `chunking_strategy`.
        chunking_type: ServerVad = field("chunking_strategy[type]"),
        /// Has no effect.
        _prefix_padding: Unused = field("chunking_strategy[prefix_padding_ms]"),
        /// Has no effect.
        _silence_duration: Unused = field("chunking_strategy[silence_duration_ms]"),
        /// Has no effect.
        _threshold: Unused = field("chunking_strategy[threshold]"),
        /// Whether to translate the text too, as in `/v1/models/speech-recognition`. Not in OpenAI's API, as the following fields.
        with_translation: bool = field("with-translation").or("false"),
        /// The script of Panjabi texts.
        script: Script = field("script").or("gurmukhi"),
        /// Whether the channels of the recording are mixed into one, or each is transcribed by itself, which is the default of
        /// `diarized_json` alone.
        channels: Channels = field("channels"),
        /// Whether the text has the words as they are spoken. The default is `written`.
        format: TextForm = field("format").or("written"),
        /// The digits of the written form. The default is `latin`.
        digits: Digits = field("digits").neutral("latin"),
        /// The most characters of a line of subtitles. The default is 42.
        max_line_length: MaxLineLength = field("max-line-length").neutral("42"),
        /// The most lines of a cue of subtitles. The default is 2.
        max_lines: MaxLines = field("max-lines").neutral("2"),
        /// As `keywords[]`, but every text must be a term.
        keyterms: Vec<KeyTerm> = field("keyterms"),
        /// Has no effect: `response_format` decides whether the response has times.
        with_timestamps: bool = field("with-timestamps").neutral("false"),
        /// Has no effect: `timestamp_granularities[]` decides whether the response has words.
        with_words: bool = field("with-words").neutral("false"),
        /// Has no effect: `verbose_json` has the confidence.
        with_confidence: bool = field("with-confidence").neutral("false"),
        _speaker_names: Vec<Unsupported> = field("known_speaker_names[]").only(&[]),
        _speaker_references: Vec<Unsupported> = field("known_speaker_references[]").only(&[]),
    }
}

fields! {
    /// The fields of a request for a translation into English.
    AudioTranslationForm {
        /// The model.
        model: TranslationModel = field("model").required().wrong("speech-en"),
        /// How the response is written.
        response_format: TranslationFormat = field("response_format").or("json"),
        /// Has no effect.
        prompt: Unused = field("prompt"),
        /// Has no effect.
        temperature: Bounded<f64, 0, 1> = field("temperature").neutral("0"),
    }
}

/// Says of each option that is given that it has no effect.
fn remarks<const N: usize>(options: [(&str, bool); N]) -> Vec<String> {
    let given = options.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(name, _)| format!("{name} has no effect")).collect()
}

fn is_positive(temperature: Option<Bounded<f64, 0, 1>>) -> bool {
    temperature.is_some_and(|temperature| temperature.get() > 0.0)
}

/// The file of both forms.
const fn recording(text: &'static str) -> File {
    File {
        text,
        max_bytes: None,
        types: MediaType::RECORDINGS,
        if_other: Some("`akhar transcribe` takes other formats if ffmpeg is installed"),
        if_larger: Some("`akhar transcribe` cuts long recordings"),
        url: Some(RECORDING_URL),
    }
}

fn example() -> serde_json::Value {
    json!({"file": "(the bytes of a recording)", "model": "speech-pa"})
}

impl Form for AudioTranscriptionForm {
    const FILE: Option<File> = Some(recording("A recording, by default at most 25 × 1024² bytes."));
    const QUEUE: Queue = SPEECH;
    /// What the response shows, and whether it is sent while it is recognised.
    type Checked = (View, bool);

    fn check(self, violations: &mut Vec<Violation>) -> Option<(View, bool)> {
        let mut refuse = |name, code, detail| violations.push(Violation::new(name, code, detail));
        let languages = self.languages.as_deref().unwrap_or_default();
        let named = self.language.map(|language| ("language", language.0));
        let named = named.or_else(|| {
            let (first, others) = languages.split_first()?;
            // A model of one language does not write the others.
            let is_open = self.model?.language().is_none() && others.iter().any(|other| other.0 != first.0);
            (!is_open).then_some(("languages[]", first.0))
        });
        if let (Some(model), Some((field, language))) = (self.model, named)
            && let Some(only) = model.language().filter(|only| *only != language)
        {
            let (model, language, only) = (model.id(), language.code(), only.code());
            let detail =
                format!("{field} is {language}, but model {model} transcribes {only}: expected {only}");
            refuse(field, Code::NotAChoice, detail);
        }
        if let Some(format) = self.response_format
            && self.stream == Some(true)
            && format != Format::Json
        {
            let detail =
                format!("stream needs response_format json, but response_format is {}", format.name());
            refuse("stream", Code::Unsupported, detail);
        }
        if let (Some(TextForm::Spoken), Some(Digits::Gurmukhi)) = (self.format, self.digits) {
            refuse("digits", Code::Unsupported, DIGITS_NEED_WRITTEN.to_owned());
        }
        let format = self.response_format?;
        let is_timed = self.granularities.is_some() && format != Format::VerboseJson;
        let granularities = self.granularities.unwrap_or_else(|| vec![Granularity::Segment]);
        let mut remarks = remarks([
            ("prompt", self.prompt.is_some()),
            ("temperature", is_positive(self.temperature)),
            ("timestamp_granularities[]", is_timed),
            ("include[]", self.include.is_some() && format != Format::Json),
            ("with-timestamps", self.with_timestamps == Some(true) && !format.has_segments()),
            ("with-words", self.with_words == Some(true) && !granularities.contains(&Granularity::Word)),
            ("with-confidence", self.with_confidence == Some(true) && format != Format::VerboseJson),
            ("chunking_strategy", self.chunking == Some(Chunking::ServerVad) || self.chunking_type.is_some()),
        ]);
        let known = named.map(|(_, language)| language).or(self.model?.language());
        let language = known.unwrap_or_default();
        if known.is_some() && languages.iter().any(|other| other.0 != language) {
            remarks.push(format!("of languages[], only {} has an effect", language.code()));
        }
        let keywords = [self.keywords, self.more_keywords].into_iter().flatten().flatten();
        let (keyterms, others): (Vec<_>, Vec<_>) =
            keywords.map(|keyword| keyword.0).partition(Option::is_some);
        if !others.is_empty() {
            let (have, they_are) =
                if others.len() == 1 { ("has", "it is not a term") } else { ("have", "they are no terms") };
            let n = others.len();
            remarks
                .push(format!("{n} of keywords[] {have} no effect: {they_are} in Gurmukhi or Latin letters"));
        }
        let with_logprobs = self.include.is_some() && format == Format::Json;
        let keyterms = keyterms.into_iter().flatten().chain(self.keyterms.into_iter().flatten());
        let default_channels = if format == Format::DiarizedJson { Channels::Split } else { Channels::Mixed };
        let speech = SpeechParameters {
            lang: language,
            detect_language: known.is_none(),
            with_translation: self.with_translation?,
            translate_into: None,
            with_timestamps: format.has_segments(),
            with_words: granularities.contains(&Granularity::Word) || with_logprobs || format.is_subtitles(),
            with_confidence: format == Format::VerboseJson || with_logprobs,
            written: (self.format? == TextForm::Written).then(|| self.digits.unwrap_or(Digits::Latin)),
            script: self.script?,
            subtitles: SubtitleSize { max_line_length: self.max_line_length, max_lines: self.max_lines },
            channels: self.channels.unwrap_or(default_channels),
            keyterms: keyterms.take(MAX_TERMS).collect(),
        };
        let view = View { speech, format, granularities, with_logprobs, remarks };
        Some((view, self.stream?))
    }

    fn example() -> Option<serde_json::Value> {
        Some(example())
    }
}

impl Form for AudioTranslationForm {
    const FILE: Option<File> =
        Some(recording("A recording in Panjabi or English, by default at most 25 × 1024² bytes."));
    const QUEUE: Queue = SPEECH;
    type Checked = View;

    fn check(self, _: &mut Vec<Violation>) -> Option<View> {
        self.model?;
        let TranslationFormat(format) = self.response_format?;
        let speech = SpeechParameters {
            lang: Language::Panjabi,
            detect_language: true,
            with_translation: true,
            translate_into: Some(Language::English),
            with_timestamps: format.has_segments(),
            with_words: false,
            with_confidence: format == Format::VerboseJson,
            written: Some(Digits::Latin),
            script: Script::Gurmukhi,
            subtitles: SubtitleSize::default(),
            channels: Channels::Mixed,
            keyterms: Vec::new(),
        };
        let remarks =
            remarks([("prompt", self.prompt.is_some()), ("temperature", is_positive(self.temperature))]);
        let granularities = vec![Granularity::Segment];
        Some(View { speech, format, granularities, with_logprobs: false, remarks })
    }

    fn example() -> Option<serde_json::Value> {
        Some(example())
    }
}
