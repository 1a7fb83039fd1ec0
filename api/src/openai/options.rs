//! The options of a request: how to respond, and options of OpenAI's API that this server does not have.

use super::Model;
use crate::{
    input::{choice, fields::quoted, multipart::Form},
    problems::{Code, Violation},
};

/// How the response is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// A JSON object with the text.
    #[default]
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

impl Format {
    const ALL: [Self; 5] = [Self::Json, Self::Text, Self::Srt, Self::VerboseJson, Self::Vtt];

    const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Text => "text",
            Self::Srt => "srt",
            Self::VerboseJson => "verbose_json",
            Self::Vtt => "vtt",
        }
    }

    /// Whether the response shows the segments.
    pub(super) const fn has_segments(self) -> bool {
        matches!(self, Self::Srt | Self::Vtt | Self::VerboseJson)
    }
}

/// What has a time in the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Granularity {
    Segment,
    Word,
}

pub(super) const FILE: &str = "file";
pub(super) const MODEL: &str = "model";
pub(super) const LANGUAGE: &str = "language";
pub(super) const RESPONSE_FORMAT: &str = "response_format";
pub(super) const GRANULARITIES: &str = "timestamp_granularities[]";
pub(super) const PROMPT: &str = "prompt";
pub(super) const TEMPERATURE: &str = "temperature";
pub(super) const STREAM: &str = "stream";
pub(super) const INCLUDE: &str = "include[]";
pub(super) const CHUNKING: &str = "chunking_strategy";

/// The model, which a request must name.
pub(super) fn model(form: &mut Form) -> Model {
    let Some(id) = form.text(MODEL) else {
        let known = Model::ALL.map(Model::id).join(", ");
        let detail = format!("{MODEL} is required, expected one of {known}");
        form.violations.push(Violation::new(MODEL, Code::Missing, detail));
        return Model::default();
    };
    match choice::one_of(MODEL, &id, &Model::ALL.map(Model::id)) {
        Ok(nth) => Model::ALL.get(nth).copied().unwrap_or_default(),
        Err(violation) => {
            form.violations.push(violation);
            Model::default()
        }
    }
}

/// The format of the response.
pub(super) fn format(form: &mut Form) -> Format {
    let names = Format::ALL.map(Format::name);
    let nth = form.value(RESPONSE_FORMAT, |name, text| choice::one_of(name, text, &names));
    Format::ALL.get(nth).copied().unwrap_or_default()
}

/// What has a time in a response with this format: segments, unless the request asks for words only.
pub(super) fn granularities(form: &mut Form, format: Format) -> Vec<Granularity> {
    let chosen = form.values(GRANULARITIES, |name, text| {
        let nth = choice::one_of(name, text, &["segment", "word"])?;
        Ok(if nth == 0 { Granularity::Segment } else { Granularity::Word })
    });
    if chosen.is_empty() {
        return vec![Granularity::Segment];
    }
    if format != Format::VerboseJson {
        let detail = format!(
            "{GRANULARITIES} needs {RESPONSE_FORMAT} verbose_json, but {RESPONSE_FORMAT} is {}",
            format.name()
        );
        form.violations.push(Violation::new(GRANULARITIES, Code::Unsupported, detail));
    }
    chosen
}

/// Whether the text is sent while it is recognised, which is possible only in this format.
pub(super) fn is_streamed(form: &mut Form, format: Format) -> bool {
    let is_streamed = form.value(STREAM, choice::boolean);
    if is_streamed && format != Format::Json {
        let detail =
            format!("{STREAM} needs {RESPONSE_FORMAT} json, but {RESPONSE_FORMAT} is {}", format.name());
        form.violations.push(Violation::new(STREAM, Code::Unsupported, detail));
    }
    is_streamed
}

/// Adds a violation for each option that this server does not have, if it was used. A value that means the same as no
/// value is accepted.
pub(super) fn refuse_unsupported(form: &mut Form) {
    let unused: [(&'static str, &[&str]); 4] =
        [(PROMPT, &[""]), (TEMPERATURE, &["0", "0.0"]), (INCLUDE, &[]), (CHUNKING, &["auto"])];
    for (name, neutral) in unused {
        let used = form.values(name, |_, text| Ok(text.to_owned()));
        if let Some(value) = used.iter().find(|value| !neutral.contains(&value.as_str())) {
            let expected = match neutral {
                [] | [""] => "nothing".to_owned(),
                [value, ..] => (*value).to_owned(),
            };
            let detail = format!(
                "{name} is {}, which this server does not support: expected {expected}",
                quoted(value)
            );
            form.violations.push(Violation::new(name, Code::Unsupported, detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_format_is_json_without_segments() {
        assert_eq!(Format::default().name(), "json");
        assert!(!Format::default().has_segments());
    }
}
