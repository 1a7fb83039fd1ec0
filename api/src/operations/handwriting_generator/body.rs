//! The response of the handwriting generator: strokes as JSON text and perhaps a PNG come in, a body of both goes out.

use akhar_client::{HandwritingBody, JobResultBody, Png, PointsBody};
use akhar_jobs::{Outcome, Parameters};
use serde_json::value::RawValue;

use crate::{http::representation::Representation, problems::Problem};

/// The representations of the response, the default first.
pub(crate) const fn representations(parameters: &Parameters) -> &'static [Representation] {
    let has_picture = matches!(parameters, Parameters::HandwritingGenerator(form) if form.picture.is_some());
    if has_picture { Representation::PICTURE } else { Representation::JSON }
}

/// The response's body. The strokes are checked to be one JSON value and sent as they are.
pub(crate) fn body(outcome: Outcome) -> Result<JobResultBody, Problem> {
    let Outcome::Handwriting { points, image } = outcome else {
        return Err(Problem::internal("a handwriting has the outcome of another operation"));
    };
    let points = String::from_utf8(points).map_err(Problem::internal)?;
    let points = PointsBody::Json(RawValue::from_string(points).map_err(Problem::internal)?);
    Ok(JobResultBody::Handwriting(HandwritingBody { points, image: image.map(Png) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strokes_go_out_as_they_came_in() {
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
