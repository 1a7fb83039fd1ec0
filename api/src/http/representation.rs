//! The media types a response can have.

/// A form that a response can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// A JSON document.
    Json,
    /// A picture alone.
    Png,
}

impl Representation {
    /// Of a response without a picture.
    pub(crate) const JSON: &[Self] = &[Self::Json];
    /// Of a response with a picture: the picture alone unless the caller prefers the document.
    pub(crate) const PICTURE: &[Self] = &[Self::Png, Self::Json];

    /// The IANA name.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Png => "image/png",
        }
    }
}
