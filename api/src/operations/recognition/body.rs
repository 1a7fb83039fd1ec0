//! The answer to a recognition: a model's guesses come in, the contract's `predictions` go out.

use akhar_jobs::Prediction;
use serde::Serialize;
use utoipa::ToSchema;

/// What an image shows.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Predictions)]
pub(crate) struct PredictionsBody {
    /// Guesses by falling score, as many as `top-k` asked for.
    predictions: Vec<PredictionBody>,
}

/// One guess at what an image shows.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Prediction)]
pub(crate) struct PredictionBody {
    /// The character, in Unicode's NFC.
    #[schema(example = "੫")]
    label: String,
    /// Calibrated probability.
    #[schema(example = 0.98, minimum = 0, maximum = 1)]
    score: f32,
}

impl From<Vec<Prediction>> for PredictionsBody {
    fn from(predictions: Vec<Prediction>) -> Self {
        let body = |p: Prediction| PredictionBody { label: p.label, score: p.score };
        Self { predictions: predictions.into_iter().map(body).collect() }
    }
}
