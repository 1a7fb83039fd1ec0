//! Entry points for the fuzz targets of `tests/fuzz/`: each takes an upload's bytes and decodes them. They are not part of the
//! program.

#![expect(clippy::missing_panics_doc, reason = "a target panics on a defect")]

use akhar_inference::ink;
use akhar_jobs::{MediaType, Upload};

use crate::decode::{
    audio::{Audio, AudioLimits, certain_type},
    image::{ImageDecoding, MAX_PIXELS},
};

/// Decodes a recording to its end.
pub fn audio(bytes: Vec<u8>) {
    let media_type = certain_type(&bytes).unwrap_or(MediaType::Mp3);
    let upload = Upload { media_type, bytes: bytes.into() };
    let Ok(mut audio) = Audio::open(upload.into(), &AudioLimits::default(), None) else { return };
    while let Ok(Some(samples)) = audio.next() {
        assert!(
            samples.iter().all(|sample| sample.is_finite()),
            "a model would get a number that is not finite"
        );
    }
    assert!(audio.seconds() <= 3601.0 && audio.warnings().len() < 100);
}

/// Decodes a picture and computes a classifier's input.
pub async fn picture(bytes: Vec<u8>) {
    let media_type = if bytes.starts_with(b"\xff\xd8") { MediaType::Jpeg } else { MediaType::Png };
    let images = ImageDecoding::new(MAX_PIXELS);
    let upload = Upload { media_type, bytes: bytes.into() };
    let input = images.decode(upload, |pixels| ink::features(pixels.view()?).ok()).await;
    if let Ok(Some(input)) = input {
        assert!(input.iter().all(|value| value.is_finite()), "a model would get a number that is not finite");
    }
}
