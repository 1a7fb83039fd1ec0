//! The response of the handwriting generator: strokes, and a picture of them if one was requested.

use base64::{Engine as _, display::Base64Display, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::value::RawValue;

/// Text as handwriting.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Handwriting))]
pub struct HandwritingBody {
    /// The strokes.
    #[cfg_attr(feature = "schema", schema(value_type = Strokes))]
    pub points: PointsBody,
    /// A PNG in base64. Present only if `with-image` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schema(
            value_type = Option<String>,
            nullable = false,
            content_encoding = "base64",
            content_media_type = "image/png"
        )
    )]
    pub image: Option<Png>,
}

/// The strokes of a pen, either as numbers or as JSON text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PointsBody {
    /// Strokes that a client has read from a response.
    Strokes(Strokes),
    /// The same as JSON text. The worker writes it and the api sends it unchanged, without parsing it.
    #[serde(skip_deserializing)]
    Json(Box<RawValue>),
}

impl PointsBody {
    /// Returns the strokes, and parses them if they are JSON text.
    pub fn into_strokes(self) -> Result<Strokes, serde_json::Error> {
        match self {
            Self::Strokes(strokes) => Ok(strokes),
            Self::Json(text) => serde_json::from_str(text.get()),
        }
    }
}

/// The strokes of a pen, in the order in which they are drawn. Coordinates are pixels of the picture, from its top
/// left corner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Points))]
pub struct Strokes {
    /// The x coordinates of the points of each stroke. A stroke has two or more points.
    pub x: Vec<Vec<f64>>,
    /// The y coordinates of the same points, downwards: as many strokes as in `x`, with as many points.
    pub y: Vec<Vec<f64>>,
}

/// The bytes of a PNG, written in JSON as base64. The picture is as wide as a page, and as long as all pages
/// together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(
        value_type = String,
        format = Binary,
        description = "A PNG. It is as wide as a page, and as long as all pages together."
    )
)]
pub struct Png(pub Vec<u8>);

impl Serialize for Png {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(&self.0, &BASE64_STANDARD))
    }
}

impl<'de> Deserialize<'de> for Png {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        BASE64_STANDARD.decode(text).map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"points":{"x":[[1.00,2.5]],"y":[[3,4]]},"image":"iVBORw=="}"#;

    #[test]
    fn json_points_are_written_unchanged_and_can_be_parsed() {
        let points = RawValue::from_string(r#"{"x":[[1.00,2.5]],"y":[[3,4]]}"#.to_owned()).unwrap();
        let body =
            HandwritingBody { points: PointsBody::Json(points), image: Some(Png(b"\x89PNG".to_vec())) };
        assert_eq!(serde_json::to_string(&body).unwrap(), JSON);
        let read: HandwritingBody = serde_json::from_str(JSON).unwrap();
        let strokes = Strokes { x: vec![vec![1.0, 2.5]], y: vec![vec![3.0, 4.0]] };
        assert_eq!((read.points.into_strokes().unwrap(), read.image), (strokes.clone(), body.image));
        assert_eq!(body.points.into_strokes().unwrap(), strokes);
    }

    #[test]
    fn an_image_that_is_not_base64_is_an_error() {
        assert!(serde_json::from_str::<Png>(r#""*""#).is_err());
    }
}
