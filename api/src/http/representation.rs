//! The media types that a response can have.

/// The representation of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// A JSON document.
    Json,
    /// The picture of a result, as a PNG.
    Png,
}

impl Representation {
    /// The representations of a result without a picture.
    pub(crate) const JSON: &[Self] = &[Self::Json];
    /// The representations of a result with a picture. The default is the PNG.
    pub(crate) const PICTURE: &[Self] = &[Self::Png, Self::Json];

    /// The IANA name of the media type.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Png => "image/png",
        }
    }
}
