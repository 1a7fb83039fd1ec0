//! Requests about texts.

use serde::Serialize;

/// The fields of a handwriting request. A field that is `None` has the server's default. Lengths are in pixels.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of the HTTP interface")]
pub struct HandwritingRequest {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_space: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub char_space: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_space: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_length: Option<f64>,
    pub with_image: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stroke_color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stroke_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
}

/// The fields of a translation request. A field that is `None` has the server's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of the HTTP interface")]
pub struct TranslationRequest {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Requests with the same key have one job.
    #[serde(skip)]
    pub idempotency_key: Option<String>,
}
