//! One violated constraint: the field, a stable code, and words.

use serde::Serialize;
use utoipa::ToSchema;

/// One violated constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Violation {
    /// The field or query parameter, as the caller named it.
    #[schema(example = "top-k")]
    pub(crate) field: String,
    /// A stable code. Further ones come from the model's own look at the input, such as `undecodable`.
    #[schema(example = "out_of_range")]
    pub(crate) code: String,
    /// What was expected and what came.
    #[schema(example = "top-k is 6, expected an integer from 1 to 5")]
    pub(crate) detail: String,
}

/// The codes intake gives. They are public: never rename one.
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
    /// None of the names a field may have as its value.
    NotAChoice,
    /// Less text than the field needs.
    TooShort,
    /// More text than the field takes.
    TooLong,
    /// A character the text may not have.
    CharacterNotAllowed,
    /// Text of signs and punctuation alone.
    NoLetter,
    /// Bytes that are not UTF-8, or half a surrogate pair, which UTF-8 cannot hold.
    NotUtf8,
    /// More bytes than the file may have.
    TooLarge,
    /// First bytes of none of the types taken.
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
    /// A violation met at intake.
    pub(crate) fn new(field: &str, code: Code, detail: impl Into<String>) -> Self {
        Self { field: field.to_owned(), code: code.name().to_owned(), detail: detail.into() }
    }
}
