//! The response of translation.

use serde::{Deserialize, Serialize};

/// The translation of a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Translation))]
pub struct TranslationBody {
    /// The text in the other language, in Unicode normalization form C (NFC). It has a line for each line of the request.
    #[cfg_attr(feature = "schema", schema(example = "Hello"))]
    pub translation: String,
    /// The language that it is translated from, `pa` or `en`: that of the request, or the one that was detected.
    #[cfg_attr(feature = "schema", schema(example = "pa"))]
    pub language: String,
    /// The probability that the worst sentence of it is about right. Absent if nothing had to be translated, as of numbers, and
    /// if the model does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, example = 0.913, minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
}
