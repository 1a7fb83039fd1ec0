//! The forms an answer can have: what was asked for comes in, what may be offered goes out.

use akhar_jobs::Parameters;

/// A form an answer can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// A document.
    Json,
    /// A picture alone.
    Png,
}

impl Representation {
    /// What has no picture.
    pub(crate) const JSON: &[Self] = &[Self::Json];
    /// What has a picture: it alone if the caller does not mind.
    pub(crate) const PICTURE: &[Self] = &[Self::Png, Self::Json];

    /// The forms the answer to these parameters can have, the first of them unless the caller says otherwise.
    pub(crate) const fn offered(parameters: &Parameters) -> &'static [Self] {
        match parameters {
            Parameters::HandwritingGenerator(handwriting) if handwriting.picture.is_some() => Self::PICTURE,
            Parameters::AlphabetRecognition { .. }
            | Parameters::DigitRecognition { .. }
            | Parameters::HandwritingGenerator(_)
            | Parameters::SpeechRecognition(_) => Self::JSON,
        }
    }

    /// The IANA name.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Png => "image/png",
        }
    }
}
