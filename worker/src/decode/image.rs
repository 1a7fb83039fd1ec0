//! An image file comes in; 8-bit RGB pixels come out, upright, alpha flattened, within bounds of pixels
//! and memory that are checked before a pixel is decoded.

use std::{io::Cursor, sync::Arc};

use akhar_jobs::{MediaType, Upload};
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageReader, Limits, Rgb, RgbImage, RgbaImage,
    metadata::Orientation,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::undecodable::Undecodable;

/// Memory that all decoding of one process may use at a time, MiB. One large image fits; several wait
/// for each other.
const BUDGET_MIB: u32 = 256;

const MIB: u64 = 1024 * 1024;

/// Decodes images within the process's memory budget, which clones share.
#[derive(Debug, Clone)]
pub(crate) struct ImageDecoding {
    max_pixels: u64,
    budget: Arc<Semaphore>,
}

impl ImageDecoding {
    pub(crate) fn new(max_pixels: u64) -> Self {
        Self { max_pixels, budget: Arc::new(Semaphore::new(BUDGET_MIB as usize)) }
    }

    /// Reads the header, waits for memory, and decodes on a blocking thread, where `then` goes on with
    /// the pixels.
    pub(crate) async fn decode<T: Send + 'static>(
        &self,
        upload: Upload,
        then: impl FnOnce(RgbImage) -> T + Send + 'static,
    ) -> Result<T, Undecodable> {
        let n_bytes = self.admit(&upload)?;
        let _memory = self.reserve(n_bytes).await;
        let blocking = tokio::task::spawn_blocking(move || decode(&upload, n_bytes).map(then));
        match blocking.await {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    /// How many bytes decoding takes, from the header alone.
    fn admit(&self, upload: &Upload) -> Result<u64, Undecodable> {
        if upload.media_type == MediaType::Jpeg && is_cut_off(&upload.bytes) {
            let detail = "expected a whole image/jpeg: it ends within the picture".to_owned();
            return Err(Undecodable { code: "undecodable", detail });
        }
        let decoder = reader(upload)?.into_decoder().map_err(|e| undecodable(upload, &e))?;
        let (width, height) = decoder.dimensions();
        let n_pixels = u64::from(width) * u64::from(height);
        if n_pixels > self.max_pixels {
            let max = self.max_pixels;
            let detail = format!("{width} × {height} is {n_pixels} pixels, at most {max} are read");
            return Err(Undecodable { code: "too_many_pixels", detail });
        }
        // Decoded, then as RGB, and for some formats once more on the way.
        Ok(decoder.total_bytes() * 2 + n_pixels * 3)
    }

    async fn reserve(&self, n_bytes: u64) -> Option<OwnedSemaphorePermit> {
        let n_mib = u32::try_from(n_bytes / MIB + 1).unwrap_or(BUDGET_MIB).min(BUDGET_MIB);
        self.budget.clone().acquire_many_owned(n_mib).await.ok() // never closed
    }
}

fn reader(upload: &Upload) -> Result<ImageReader<Cursor<&[u8]>>, Undecodable> {
    let format = match upload.media_type {
        MediaType::Png => image::ImageFormat::Png,
        MediaType::Jpeg => image::ImageFormat::Jpeg,
        MediaType::Mp3 | MediaType::Wav => {
            let detail = format!("expected an image, found {}", upload.media_type.name());
            return Err(Undecodable { code: "undecodable", detail });
        }
    };
    Ok(ImageReader::with_format(Cursor::new(&*upload.bytes), format))
}

fn decode(upload: &Upload, n_bytes: u64) -> Result<RgbImage, Undecodable> {
    let fail = |e: ImageError| undecodable(upload, &e);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(n_bytes + MIB);
    let mut reader = reader(upload)?;
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(fail)?;
    // A broken EXIF block is no reason to refuse a readable picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(fail)?;
    image.apply_orientation(orientation);
    Ok(if image.color().has_alpha() { flatten(&image.into_rgba8()) } else { image.into_rgb8() })
}

fn undecodable(upload: &Upload, error: &ImageError) -> Undecodable {
    let kind = upload.media_type.name();
    if let ImageError::Limits(error) = error {
        return Undecodable {
            code: "too_many_pixels",
            detail: format!("the {kind} claims too large a picture: {error}"),
        };
    }
    Undecodable { code: "undecodable", detail: format!("expected a whole {kind}: {error}") }
}

/// Whether the last scan of a JPEG (SOS, FF DA) has no end (EOI, FF D9): half a picture, whose rest the
/// decoder would fill with grey. Within a scan neither pair can occur (ITU-T T.81, B.1.1.5).
fn is_cut_off(jpeg: &[u8]) -> bool {
    let last = |marker: [u8; 2]| jpeg.windows(2).rposition(|pair| pair == marker);
    last([0xff, 0xda]).is_some_and(|scan| last([0xff, 0xd9]).is_none_or(|end| end < scan))
}

/// Lays a picture with transparency on paper: white, or black where the little that is drawn is light
/// (white ink on nothing would vanish on white).
fn flatten(image: &RgbaImage) -> RgbImage {
    let (mut coverage, mut light) = (0_u64, 0_u64);
    for p in image.pixels() {
        let [r, g, b, a] = p.0.map(u64::from);
        coverage += a;
        light += a * (299 * r + 587 * g + 114 * b) / 1000;
    }
    let n_pixels = u64::from(image.width()) * u64::from(image.height());
    let is_sparse = coverage < n_pixels * 255 / 2;
    let is_light = light > coverage * 255 / 2;
    let paper: u16 = if is_sparse && is_light { 0 } else { 255 };
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let [r, g, b, a] = image.get_pixel(x, y).0.map(u16::from);
        let over = |c: u16| u8::try_from((c * a + paper * (255 - a) + 127) / 255).unwrap_or(u8::MAX);
        Rgb([over(r), over(g), over(b)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageFormat, Luma, Rgba};

    fn encode(image: &DynamicImage, format: ImageFormat) -> Upload {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        let media_type = if format == ImageFormat::Png { MediaType::Png } else { MediaType::Jpeg };
        Upload { media_type, bytes: bytes.into_inner().into() }
    }

    async fn rgb(upload: Upload) -> Result<RgbImage, &'static str> {
        ImageDecoding::new(1 << 20).decode(upload, |image| image).await.map_err(|e| e.code)
    }

    #[tokio::test]
    async fn every_depth_and_colour_becomes_rgb8() {
        let grey =
            DynamicImage::ImageLuma8(image::GrayImage::from_fn(4, 3, |x, _| Luma([u8::from(x == 1) * 255])));
        let variants = [
            grey.clone(),
            DynamicImage::ImageLuma16(grey.to_luma16()),
            DynamicImage::ImageRgb8(grey.to_rgb8()),
            DynamicImage::ImageRgb16(grey.to_rgb16()),
            DynamicImage::ImageRgba8(grey.to_rgba8()),
            DynamicImage::ImageRgba16(grey.to_rgba16()),
            DynamicImage::ImageLumaA8(grey.to_luma_alpha8()),
        ];
        for variant in variants {
            assert_eq!(rgb(encode(&variant, ImageFormat::Png)).await.unwrap(), grey.to_rgb8());
        }
    }

    #[tokio::test]
    async fn transparent_pictures_lie_on_paper_their_ink_shows_on() {
        for (ink, paper) in [(0, 255), (255, 0)] {
            let image = RgbaImage::from_fn(5, 5, |x, _| Rgba([ink, ink, ink, u8::from(x == 2) * 255]));
            let flat = rgb(encode(&DynamicImage::ImageRgba8(image), ImageFormat::Png)).await.unwrap();
            assert_eq!(flat.get_pixel(0, 0).0, [paper; 3]);
            assert_eq!(flat.get_pixel(2, 0).0, [ink; 3]);
        }
        let mostly_opaque = RgbaImage::from_fn(5, 5, |x, _| Rgba([255, 255, 255, u8::from(x > 0) * 255]));
        let flat = rgb(encode(&DynamicImage::ImageRgba8(mostly_opaque), ImageFormat::Png)).await.unwrap();
        assert_eq!(flat.get_pixel(0, 0).0, [255; 3]);
    }

    #[tokio::test]
    async fn every_truncation_is_an_answer_and_no_panic() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg] {
            let whole = encode(&DynamicImage::new_rgb8(9, 9), format);
            // Of a PNG the last bytes hold no pixels.
            let n_needed =
                if format == ImageFormat::Jpeg { whole.bytes.len() } else { whole.bytes.len() / 2 };
            for n in 0..n_needed {
                let cut = Upload { media_type: whole.media_type, bytes: whole.bytes[..n].to_vec().into() };
                assert_eq!(rgb(cut).await.unwrap_err(), "undecodable");
            }
        }
    }

    #[tokio::test]
    async fn pixels_beyond_the_bound_are_refused_from_the_header() {
        let large = encode(&DynamicImage::new_luma8(2048, 513), ImageFormat::Png);
        assert_eq!(rgb(large).await.unwrap_err(), "too_many_pixels");
    }
}
