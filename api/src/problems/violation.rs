//! A violated constraint: the field, a code that never changes, and a text.

use akhar_client::ViolationBody;

/// One violated constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The field or query parameter, as the caller named it.
    pub(crate) field: String,
    /// A code that never changes. Workers set further codes, such as `undecodable`.
    pub(crate) code: String,
    /// What was expected and what was sent.
    pub(crate) detail: String,
}

/// The codes of violations that are found when a request is parsed. They are public: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// A required field is absent.
    Missing,
    /// A file is empty.
    Empty,
    /// A field is given more than once.
    Duplicated,
    /// An idempotency key or an upload was used for another request.
    Reused,
    /// A field or query parameter is unknown.
    Unknown,
    /// A JSON value has another type than the field.
    WrongType,
    /// A text is not an integer in decimal digits.
    NotAnInteger,
    /// A text is not a time in the format of RFC 3339.
    NotATime,
    /// A text is not the id of a job.
    NotAJob,
    /// A text is not the id of a thing.
    NotAnId,
    /// A text is not the id of an event.
    NotAnEvent,
    /// A text is not a URL.
    NotAUrl,
    /// A URL at which the service does not send anything.
    NotAllowed,
    /// The account has no secret that signs webhooks.
    NoSecret,
    /// A number is outside its range.
    OutOfRange,
    /// A value is none of those that the field accepts.
    NotAChoice,
    /// A value or field that the interface which this one follows has, but this server has not.
    Unsupported,
    /// A text is shorter than the field requires.
    TooShort,
    /// A text is longer than the field allows.
    TooLong,
    /// A field is given more often than it may be.
    TooMany,
    /// A text contains a character that is not allowed.
    CharacterNotAllowed,
    /// A text contains no letter or digit.
    NoLetter,
    /// A text is not valid UTF-8, or contains half a surrogate pair, which UTF-8 cannot encode.
    NotUtf8,
    /// A file has more bytes than allowed.
    TooLarge,
    /// A file is of none of the accepted types.
    UnsupportedMediaType,
    /// There is no such upload, or it belongs to another account.
    NotFound,
    /// An upload has no file yet.
    NotSent,
    /// The file of an upload has another size than was reserved.
    OtherSize,
}

impl Code {
    /// The code in the document.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Empty => "empty",
            Self::Duplicated => "duplicated",
            Self::Reused => "reused",
            Self::Unknown => "unknown",
            Self::WrongType => "wrong_type",
            Self::NotAnInteger => "not_an_integer",
            Self::NotATime => "not_a_time",
            Self::NotAJob => "not_a_job",
            Self::NotAnId => "not_an_id",
            Self::NotAnEvent => "not_an_event",
            Self::NotAUrl => "not_a_url",
            Self::NotAllowed => "not_allowed",
            Self::NoSecret => "no_secret",
            Self::OutOfRange => "out_of_range",
            Self::NotAChoice => "not_a_choice",
            Self::Unsupported => "unsupported",
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::TooMany => "too_many",
            Self::CharacterNotAllowed => "character_not_allowed",
            Self::NoLetter => "no_letter",
            Self::NotUtf8 => "not_utf8",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::NotFound => "not_found",
            Self::NotSent => "not_sent",
            Self::OtherSize => "other_size",
        }
    }
}

impl Violation {
    /// A violation that is found when a request is parsed.
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
