//! The response of both recognitions: ranked predictions.

use serde::{Deserialize, Serialize};

/// What an image shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Predictions))]
pub struct PredictionsBody {
    /// Predictions by falling score, as many as `top-k` asked for.
    pub predictions: Vec<PredictionBody>,
}

/// One prediction of what an image shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Prediction))]
pub struct PredictionBody {
    /// The character, in Unicode's NFC.
    #[cfg_attr(feature = "schema", schema(example = "੫"))]
    pub label: String,
    /// Calibrated probability.
    #[cfg_attr(feature = "schema", schema(example = 0.98, minimum = 0, maximum = 1))]
    pub score: f32,
}
