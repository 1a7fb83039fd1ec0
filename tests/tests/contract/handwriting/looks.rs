//! The effect of each parameter on the writing. Every request gets a handwriting style of its own, so the
//! tests compare the means of several requests.

use akhar_tests::{
    Stack,
    http::{Stroke, send},
};
use image::{DynamicImage, Rgb};
use serde_json::{Value, json};

use super::{greeting_and, picture_and, write};

/// The number of requests for one mean. The width of the same text varies by a few percent between styles.
const N_HANDS: u8 = 6;

/// A measure of strokes, in pixels.
type Measure = fn(&[Stroke]) -> f64;

/// The mean of a measure over several requests with these fields.
async fn mean(stack: &Stack, fields: &Value, measure: Measure) -> f64 {
    let mut sum = 0.0;
    for _ in 0..N_HANDS {
        sum += measure(&send(write(stack, fields)).await.strokes());
    }
    sum / f64::from(N_HANDS)
}

fn width(strokes: &[Stroke]) -> f64 {
    extent(strokes.iter().flatten().map(|(x, _)| *x))
}

fn height(strokes: &[Stroke]) -> f64 {
    extent(strokes.iter().flatten().map(|(_, y)| *y))
}

fn extent(values: impl Iterator<Item = f64>) -> f64 {
    let (least, most) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), v| (least.min(v), most.max(v)));
    most - least
}

#[tokio::test]
async fn larger_spaces_make_the_text_larger() {
    let stack = Stack::start().await;
    let cases: [(&str, f64, &str, f64, f64, Measure); 3] = [
        ("ਕਖਗਘਚਜ", 5.0, "char-space", 30.0, 50.0, width),
        ("ਕ ਖ ਗ ਘ ਚ", 4.0, "word-space", 70.0, 100.0, width),
        ("ਕ\nਖ\nਗ", 2.0, "line-space", 120.0, 150.0, height),
    ];
    for (text, n_gaps, field, least, most, measure) in cases {
        // The text fits on one line and one page.
        let fields = |value: f64| json!({"text": text, "page-width": 950, "page-length": 950, field: value});
        let narrow = mean(&stack, &fields(least), measure).await;
        let wide = mean(&stack, &fields(most), measure).await;
        let expected = n_gaps * (most - least);
        // Half of the expected difference is more than the variation between styles.
        assert!(wide - narrow > expected / 2.0, "{field}: {narrow} at {least}, {wide} at {most}");
    }
}

#[tokio::test]
async fn a_narrow_page_has_more_lines() {
    let stack = Stack::start().await;
    let fields = |width: i32| json!({"text": "ਕਖਗ ".repeat(8), "page-width": width, "page-length": 950});
    let (narrow, wide) = (mean(&stack, &fields(300), height).await, mean(&stack, &fields(950), height).await);
    assert!(narrow > wide + 120.0, "expected at least one more line: {narrow} and {wide}");
}

/// The darkest colour of the picture, which is the ink's colour where the pen covers a whole pixel.
fn ink(picture: &DynamicImage) -> [i32; 3] {
    let picture = picture.to_rgb8();
    let darkest = picture.pixels().min_by_key(|Rgb(c)| c.map(u32::from).iter().sum::<u32>());
    darkest.expect("a pixel").0.map(i32::from)
}

/// The number of pixels with ink.
fn n_inked(picture: &DynamicImage) -> usize {
    picture.to_rgb8().pixels().filter(|Rgb(c)| c.iter().any(|c| *c < 200)).count()
}

#[tokio::test]
async fn the_ink_has_the_requested_colour() {
    let stack = Stack::start().await;
    let inked =
        async |color: &str| ink(&send(write(&stack, &picture_and("stroke-color", color))).await.picture());
    let plain = ink(&send(write(&stack, &greeting_and("with-image", true))).await.picture());
    let [r, g, b] = inked("black").await;
    assert!(r < 60 && g < 60 && b < 60 && plain == [r, g, b], "black, also as the default");
    let [r, g, b] = inked("blue").await;
    assert!(b > r + 40 && b > g + 40, "blue: {r} {g} {b}");
    let [r, g, b] = inked("green").await;
    assert!(g > r + 40 && g > b + 40, "green: {r} {g} {b}");
    let [r, g, b] = inked("pink").await;
    assert!(r > b + 20 && b > g + 20, "pink: {r} {g} {b}");
    let [r, g, b] = inked("yellow").await;
    assert!(r > b + 80 && g > b + 80, "yellow: {r} {g} {b}");
    let [r, g, b] = inked("brown").await;
    assert!(r > g + 20 && g > b + 20 && r < 180, "brown: {r} {g} {b}");
}

#[tokio::test]
async fn a_stroke_has_the_requested_width() {
    let stack = Stack::start().await;
    // The sum over several requests: the amount of ink varies with the style of writing.
    let inked = async |width: f64| {
        let mut n = 0;
        for _ in 0..N_HANDS {
            n += n_inked(&send(write(&stack, &picture_and("stroke-width", width))).await.picture());
        }
        n
    };
    let (thin, middle, thick) = (inked(1.0).await, inked(3.0).await, inked(8.0).await);
    assert!(3 * thin < 2 * middle && middle < thick, "{thin}, {middle} and {thick} pixels");
}

#[tokio::test]
async fn without_a_picture_stroke_colour_and_width_have_no_effect() {
    let stack = Stack::start().await;
    for fields in [greeting_and("stroke-color", "pink"), greeting_and("stroke-width", 8)] {
        let answer = send(write(&stack, &fields)).await;
        assert!(!answer.strokes().is_empty());
        assert_eq!(answer.json().as_object().map(serde_json::Map::len), Some(1), "points and nothing else");
    }
}
