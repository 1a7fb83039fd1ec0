//! Entry points for the fuzz targets of `tests/fuzz/`: each takes an upload's bytes and decodes them. They are not part of the
//! program.

#![expect(clippy::missing_panics_doc, reason = "a target panics on a defect")]

use std::sync::Arc;

use akhar_inference::ink;
pub use akhar_requests::MediaType;
use akhar_requests::Upload;

use crate::decode::{
    audio::{Audio, AudioLimits, Channels, Counted, Pace, most_steps},
    image::{ImageDecoding, MAX_PIXELS},
};

/// Decodes a recording of this format to its end, in a number of steps that is linear in its length.
pub fn recording(format: MediaType, bytes: Vec<u8>) {
    let most = most_steps(bytes.len()).saturating_add(SILENT_STEPS);
    let upload = Upload { media_type: format, bytes: bytes.into() };
    let pace = Arc::new(Counted::default());
    decode(&(pace.clone() as Arc<dyn Pace>), upload);
    assert!(pace.n_steps() <= most, "decoding went on for too long");
}

/// The steps of an hour of silence at the highest rate, which a file of any length can have between its packets.
const SILENT_STEPS: u64 = 3600 * 192_000 / 16_000;

fn decode(pace: &Arc<dyn Pace>, upload: Upload) {
    let opened = Audio::open_at(pace, upload.into(), &AudioLimits::default(), Channels::Each);
    let Ok(mut audio) = opened else { return };
    while let Ok(Some(tracks)) = audio.next() {
        assert!(
            tracks.iter().flatten().all(|sample| sample.is_finite()),
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
