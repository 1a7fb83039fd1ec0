//! The response of a recognition: a model's predictions come in, the contract's `predictions` go out.

use akhar_client::{JobResultBody, PredictionBody, PredictionsBody};
use akhar_jobs::{Outcome, Parameters, Prediction};

use crate::{http::representation::Representation, problems::Problem};

/// The representations of the response, the default first.
pub(crate) const fn representations(_: &Parameters) -> &'static [Representation] {
    Representation::JSON
}

/// The response's body.
pub(crate) fn body(outcome: Outcome) -> Result<JobResultBody, Problem> {
    let Outcome::Predictions { predictions } = outcome else {
        return Err(Problem::internal("a recognition has the outcome of another operation"));
    };
    let predictions =
        predictions.into_iter().map(|Prediction { label, score }| PredictionBody { label, score });
    Ok(JobResultBody::Predictions(PredictionsBody { predictions: predictions.collect() }))
}
