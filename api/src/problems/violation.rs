//! One violated constraint: the field, a stable code, and words.

use akhar_client::ViolationBody;

/// One violated constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The field or query parameter, as the caller named it.
    pub(crate) field: String,
    /// A stable code. Further codes, such as `undecodable`, come from workers.
    pub(crate) code: String,
    /// What was expected and what was sent.
    pub(crate) detail: String,
}

/// The codes set when a request is read. They are public: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// A required field is absent.
    Missing,
    /// A file of no bytes.
    Empty,
    /// A field given more than once.
    Duplicated,
    /// A field or query parameter this operation does not have.
    Unknown,
    /// A JSON value of another type than the field has.
    WrongType,
    /// Not an integer in decimal digits.
    NotAnInteger,
    /// A number outside its range.
    OutOfRange,
    /// None of the values that the field accepts.
    NotAChoice,
    /// Less text than the field needs.
    TooShort,
    /// More text than the field takes.
    TooLong,
    /// A character the text may not have.
    CharacterNotAllowed,
    /// Text without a letter or digit.
    NoLetter,
    /// Bytes that are not UTF-8, or half a surrogate pair, which UTF-8 cannot hold.
    NotUtf8,
    /// More bytes than the file may have.
    TooLarge,
    /// A file of none of the accepted types.
    UnsupportedMediaType,
}

impl Code {
    /// As written on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Empty => "empty",
            Self::Duplicated => "duplicated",
            Self::Unknown => "unknown",
            Self::WrongType => "wrong_type",
            Self::NotAnInteger => "not_an_integer",
            Self::OutOfRange => "out_of_range",
            Self::NotAChoice => "not_a_choice",
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::CharacterNotAllowed => "character_not_allowed",
            Self::NoLetter => "no_letter",
            Self::NotUtf8 => "not_utf8",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
        }
    }
}

impl Violation {
    /// A violation found when a request is read.
    pub(crate) fn new(field: &str, code: Code, detail: impl Into<String>) -> Self {
        Self { field: field.to_owned(), code: code.name().to_owned(), detail: detail.into() }
    }
}

impl From<Violation> for ViolationBody {
    fn from(violation: Violation) -> Self {
        let Violation { field, code, detail } = violation;
        Self { field, code, detail }
    }
}
