//! The media types that a response can have.

/// The representation of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// A JSON document.
    Json,
    /// The picture of a result, as a PNG.
    Png,
    /// The picture of a result, as an SVG.
    Svg,
    /// The text of a transcription or a translation alone.
    Text,
    /// The segments of a transcription as `SubRip` subtitles.
    Srt,
    /// The segments of a transcription as `WebVTT` subtitles.
    Vtt,
    /// The events of a job.
    Events,
}

impl Representation {
    /// The representations of a result without a picture.
    pub(crate) const JSON: &[Self] = &[Self::Json];
    /// The representations of a job's events.
    pub(crate) const EVENTS: &[Self] = &[Self::Events];
    /// The representations of a result with a picture. The default is the PNG.
    pub(crate) const PICTURE: &[Self] = &[Self::Png, Self::Json];
    /// The representations of a result with a picture and an SVG of it.
    pub(crate) const PICTURE_AND_SVG: &[Self] = &[Self::Png, Self::Json, Self::Svg];

    /// The representations of a text without segments.
    pub(crate) const TEXT: &[Self] = &[Self::Json, Self::Text];
    /// The representations of a transcription with segments.
    pub(crate) const SEGMENTS: &[Self] = &[Self::Json, Self::Srt, Self::Vtt, Self::Text];

    /// The name of the media type. All but that of `SubRip` are registered with IANA, and that of events is in the HTML standard.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Png => "image/png",
            Self::Svg => "image/svg+xml",
            Self::Text => "text/plain",
            Self::Srt => "application/x-subrip",
            Self::Vtt => "text/vtt",
            Self::Events => "text/event-stream",
        }
    }
}
