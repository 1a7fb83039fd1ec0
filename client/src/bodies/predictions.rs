//! The response of alphabet and digit recognition: ranked predictions.

use serde::{Deserialize, Serialize};

/// The predictions for an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Predictions))]
pub struct PredictionsBody {
    /// The number of predictions that `top-k` asks for, with descending scores.
    pub predictions: Vec<PredictionBody>,
}

/// One prediction of what an image shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Prediction))]
pub struct PredictionBody {
    /// The character, in Unicode normalization form C (NFC).
    #[cfg_attr(feature = "schema", schema(example = "੫"))]
    pub label: String,
    /// The calibrated probability that the image shows this character.
    #[cfg_attr(feature = "schema", schema(example = 0.98, minimum = 0, maximum = 1))]
    pub score: f32,
}
