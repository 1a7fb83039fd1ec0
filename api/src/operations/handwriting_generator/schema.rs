//! The OpenAPI schema of a handwriting request.

use akhar_jobs::StrokeColor;
use utoipa::{
    ToSchema,
    openapi::schema::{Object, ObjectBuilder, Type},
};

use crate::input::panjabi_text;

const TEXT: &str = "The text to write. It is converted to Unicode normalization form C (NFC) first. It must then have 2 \
    to 100 Unicode scalar values, at least one of them a Gurmukhi letter or digit. Allowed are the Gurmukhi block, \
    spaces, newlines, dandas (U+0964, U+0965), joiners (U+200C, U+200D) and `. , ? ! - ( ) ' \" : ;`. The pattern \
    matches text in NFC, in which each of the six letters with a dot below is a letter and a nukta.";

/// A PNG. It is as wide as a page, and as long as all pages together.
#[derive(ToSchema)]
#[schema(as = Png, value_type = String, format = Binary)]
#[expect(dead_code, reason = "describes the bytes to the OpenAPI document")]
pub(crate) struct PngSchema(Vec<u8>);

/// The fields of a handwriting request. Lengths are in pixels of the picture.
#[derive(ToSchema)]
#[schema(as = HandwritingForm, rename_all = "kebab-case",
    example = json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "with-image": true, "stroke-color": "blue"}))]
#[expect(dead_code, reason = "describes the fields to the OpenAPI document")]
pub(crate) struct HandwritingFormSchema {
    #[schema(schema_with = text)]
    text: String,
    /// The distance from the baseline of one line to the baseline of the next.
    #[schema(minimum = 120, maximum = 150, default = 125, required = false)]
    line_space: f64,
    /// The space between characters.
    #[schema(minimum = 30, maximum = 50, default = 35, required = false)]
    char_space: f64,
    /// The space between words.
    #[schema(minimum = 70, maximum = 100, default = 75, required = false)]
    word_space: f64,
    /// The width of a page. Every stroke is within it.
    #[schema(minimum = 300, maximum = 950, default = 550, required = false)]
    page_width: f64,
    /// The length of a page. Text that does not fit continues on another page below it.
    #[schema(minimum = 300, maximum = 950, default = 550, required = false)]
    page_length: f64,
    /// Whether to draw a picture.
    #[schema(default = false, required = false)]
    with_image: bool,
    #[schema(schema_with = stroke_color, required = false)]
    stroke_color: String,
    /// The width of the strokes in the picture.
    #[schema(minimum = 1, maximum = 8, default = 2.5, required = false)]
    stroke_width: f64,
}

fn text() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(TEXT))
        .min_length(Some(*panjabi_text::LENGTH.start()))
        .max_length(Some(*panjabi_text::LENGTH.end()))
        .pattern(Some(panjabi_text::PATTERN))
        .examples(["ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"])
        .build()
}

fn stroke_color() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("The colour of the strokes in the picture."))
        .enum_values(Some(StrokeColor::ALL.map(StrokeColor::name)))
        .default(Some(StrokeColor::Black.name().into()))
        .build()
}
