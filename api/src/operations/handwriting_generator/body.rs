//! Turns the outcome of the handwriting generator into the body of its response.

use akhar_client::{HandwritingBody, JobResultBody, Png, PointsBody};
use akhar_jobs::{Outcome, Parameters};
use serde_json::value::RawValue;

use crate::{http::representation::Representation, problems::Problem};

/// The representations that the response can have. The first is the default.
pub(crate) const fn representations(parameters: &Parameters) -> &'static [Representation] {
    let has_picture = matches!(parameters, Parameters::HandwritingGenerator(form) if form.picture.is_some());
    if has_picture { Representation::PICTURE } else { Representation::JSON }
}

/// The body of the response. The JSON text of the strokes is checked to be one value, and is sent unchanged.
pub(crate) fn body(outcome: Outcome) -> Result<JobResultBody, Problem> {
    let Outcome::Handwriting { points, image } = outcome else {
        return Err(Problem::internal(
            "the outcome of a handwriting job is the outcome of another operation",
        ));
    };
    let points = String::from_utf8(points).map_err(Problem::internal)?;
    let points = PointsBody::Json(RawValue::from_string(points).map_err(Problem::internal)?);
    Ok(JobResultBody::Handwriting(HandwritingBody { points, image: image.map(Png) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strokes_are_sent_unchanged() {
        let points = br#"{"x":[[1.00,2.5]],"y":[[3,4]]}"#;
        let document = |image| {
            let outcome = Outcome::Handwriting { points: points.to_vec(), image };
            serde_json::to_string(&body(outcome).unwrap()).unwrap()
        };
        assert_eq!(document(None), r#"{"points":{"x":[[1.00,2.5]],"y":[[3,4]]}}"#);
        assert_eq!(
            document(Some(b"\x89PNG".to_vec())),
            r#"{"points":{"x":[[1.00,2.5]],"y":[[3,4]]},"image":"iVBORw=="}"#
        );
    }

    #[test]
    fn points_that_are_not_json_are_an_error() {
        for bytes in [&b""[..], b"{", b"{} {}", b"\xff"] {
            assert!(body(Outcome::Handwriting { points: bytes.to_vec(), image: None }).is_err());
        }
    }
}
