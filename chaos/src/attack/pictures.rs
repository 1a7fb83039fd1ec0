//! Very many pictures, pictures that are small files and large work, and damaged pictures.

use std::time::Instant;

use akhar_tests::{
    Form,
    images::{fixture_of, fixtures},
};
use rand::RngExt as _;

use super::attacker::{Answers, Attacker, flood};

/// Requests with a picture at the same time.
const N_CLIENTS: usize = 40;
/// Clients of a new account, each of which sends its next request when the last one is answered.
const N_NEWCOMERS: usize = 60;

/// The sides of black pictures with one bit per pixel, which are files of about 2 kB.
const SIDES: [(u32, u32); 5] =
    [(16_777_216, 1), (1, 4_194_304), (16_384, 1024), (4096, 4096), (1024, 16_384)];

/// Pictures of a digit, sent by many clients of an account that is new.
pub(super) async fn newcomers(attacker: &Attacker, end: Instant) -> Answers {
    let fixture = fixture_of("੫");
    let request = attacker.post(fixture.operation, &Form::upload(&fixture.bytes));
    flood(N_NEWCOMERS, end, |_| request.try_clone().expect("bytes")).await
}

/// Black pictures of up to 2^24 pixels.
pub(super) async fn bombs(attacker: &Attacker, end: Instant) -> Answers {
    let pictures = || SIDES.iter().map(|(width, height)| black(*width, *height)).collect::<Vec<_>>();
    let pictures = tokio::task::spawn_blocking(pictures).await.expect("an encoder does not panic");
    flood_with(attacker, end, move |nth| pictures[nth % pictures.len()].clone()).await
}

/// Fixtures with one damaged byte, and cut fixtures.
pub(super) async fn damaged(attacker: &Attacker, end: Instant) -> Answers {
    let pictures: Vec<Vec<u8>> = fixtures().into_iter().map(|f| f.bytes).collect();
    let damage = move |nth: usize| {
        let mut picture = pictures[nth % pictures.len()].clone();
        let at = rand::rng().random_range(0..picture.len());
        if nth.is_multiple_of(2) {
            picture[at] = rand::random();
        } else {
            picture.truncate(at);
        }
        picture
    };
    flood_with(attacker, end, damage).await
}

async fn flood_with(
    attacker: &Attacker,
    end: Instant,
    picture: impl Fn(usize) -> Vec<u8> + Send + Sync,
) -> Answers {
    flood(N_CLIENTS, end, |nth| attacker.post("digit-recognition", &Form::upload(&picture(nth)))).await
}

/// A black PNG with one bit per pixel.
fn black(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let row = usize::try_from(width).expect("32 bits").div_ceil(8);
    let rows = row * usize::try_from(height).expect("32 bits");
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&vec![0; rows]).expect("pixels");
    writer.finish().expect("an end");
    bytes
}
