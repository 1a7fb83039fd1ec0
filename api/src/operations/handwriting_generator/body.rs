//! The answer to a handwriting request: strokes as JSON text and perhaps a PNG come in; a document, or the
//! picture alone, goes out.

use axum::{
    Json,
    http::header,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{http::representation::Representation, problems::Problem};

/// Text as handwriting, as the worker left it.
#[derive(Debug)]
pub(crate) struct Handwriting {
    points: Box<RawValue>,
    image: Option<Vec<u8>>,
}

/// Text as handwriting.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Handwriting)]
pub(crate) struct HandwritingBody {
    /// The strokes.
    #[schema(value_type = PointsSchema)]
    points: Box<RawValue>,
    /// The picture in base64, where `with-image` is true: a PNG.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, content_encoding = "base64", content_media_type = "image/png")]
    image: Option<String>,
}

/// The strokes of a pen, in the order it draws them. Lengths are pixels of the picture, from its top left.
#[derive(ToSchema)]
#[schema(as = Points)]
#[expect(dead_code, reason = "describes the worker's JSON text to the OpenAPI document")]
pub(crate) struct PointsSchema {
    /// How far right each point lies, stroke by stroke; a stroke has two points or more.
    x: Vec<Vec<f64>>,
    /// How far down each point lies: as many strokes as `x`, of as many points.
    y: Vec<Vec<f64>>,
}

/// A picture: a PNG as wide as the page, and as long as the pages it takes.
#[derive(ToSchema)]
#[schema(as = Png, value_type = String, format = Binary)]
#[expect(dead_code, reason = "describes the worker's bytes to the OpenAPI document")]
pub(crate) struct PngSchema(Vec<u8>);

impl Handwriting {
    /// Of the worker's bytes; the strokes are looked through once, to be one JSON text.
    pub(crate) fn of(points: Vec<u8>, image: Option<Vec<u8>>) -> Result<Self, Problem> {
        let points = String::from_utf8(points).map_err(Problem::internal)?;
        let points = RawValue::from_string(points).map_err(Problem::internal)?;
        Ok(Self { points, image })
    }

    /// The forms it can have.
    pub(crate) const fn offers(&self) -> &'static [Representation] {
        if self.image.is_some() { Representation::PICTURE } else { Representation::JSON }
    }

    /// All of it as a document.
    pub(crate) fn into_body(self) -> HandwritingBody {
        HandwritingBody { points: self.points, image: self.image.map(|png| BASE64_STANDARD.encode(png)) }
    }

    /// The picture alone where that is wanted and there is one, else all of it as a document.
    pub(crate) fn into_response(self, representation: Representation) -> Response {
        match (representation, self.image) {
            (Representation::Png, Some(image)) => {
                ([(header::CONTENT_TYPE, Representation::Png.media_type())], image).into_response()
            }
            (_, image) => Json(Self { image, ..self }.into_body()).into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: &[u8] = br#"{"x":[[1.00,2.5]],"y":[[3,4]]}"#;

    #[test]
    fn the_strokes_go_out_as_they_came_in() {
        let document = |image| {
            serde_json::to_string(&Handwriting::of(POINTS.to_vec(), image).unwrap().into_body()).unwrap()
        };
        assert_eq!(document(None), r#"{"points":{"x":[[1.00,2.5]],"y":[[3,4]]}}"#);
        assert_eq!(
            document(Some(b"\x89PNG".to_vec())),
            r#"{"points":{"x":[[1.00,2.5]],"y":[[3,4]]},"image":"iVBORw=="}"#
        );
    }

    #[test]
    fn what_is_no_json_goes_nowhere() {
        for bytes in [&b""[..], b"{", b"{} {}", b"\xff"] {
            assert!(Handwriting::of(bytes.to_vec(), None).is_err());
        }
    }

    #[test]
    fn the_picture_goes_out_alone_where_it_is_wanted() {
        let content_type = |image, representation| {
            let response = Handwriting::of(POINTS.to_vec(), image).unwrap().into_response(representation);
            response.headers()[header::CONTENT_TYPE].clone()
        };
        let png = || Some(b"\x89PNG".to_vec());
        assert_eq!(content_type(png(), Representation::Png), "image/png");
        assert_eq!(content_type(png(), Representation::Json), "application/json");
        assert_eq!(content_type(None, Representation::Json), "application/json");
    }
}
