//! Turns the outcome of a recognition into the body of its response.

use akhar_client::{JobResultBody, PredictionBody, PredictionsBody};
use akhar_jobs::{Outcome, Parameters, Prediction};

use crate::{http::representation::Representation, problems::Problem};

/// The representations that the response can have. The first is the default.
pub(crate) const fn representations(_: &Parameters) -> &'static [Representation] {
    Representation::JSON
}

/// The body of the response.
pub(crate) fn body(outcome: Outcome) -> Result<JobResultBody, Problem> {
    let Outcome::Predictions { predictions } = outcome else {
        return Err(Problem::internal(
            "the outcome of a recognition job is the outcome of another operation",
        ));
    };
    let predictions =
        predictions.into_iter().map(|Prediction { label, score }| PredictionBody { label, score });
    Ok(JobResultBody::Predictions(PredictionsBody { predictions: predictions.collect() }))
}
