//! An image file comes in; 8-bit grey or RGB pixels come out, upright, alpha flattened, within bounds of
//! pixels and memory that are checked before a pixel is decoded.

use std::{io::Cursor, sync::Arc};

use akhar_inference::ink::PixelView;
use akhar_jobs::{MediaType, Upload};
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageReader, Limits, RgbImage, RgbaImage, metadata::Orientation,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::undecodable::Undecodable;

/// Memory that all decoding of one process may use at a time, MiB. One large image fits; several wait
/// for each other.
const BUDGET_MIB: u32 = 256;

/// Pictures of at most so many pixels are decoded at once by whoever asks: at well below a millisecond, that is
/// shorter than handing them to a blocking thread and back.
const MAX_INLINE_PIXELS: u64 = 256 * 256;

const MIB: u64 = 1024 * 1024;

/// Memory that reading a header, or decoding a small picture, may use.
const MAX_SMALL_BYTES: u64 = 4 * MIB;

/// Decodes images within the process's memory budget, which clones share.
#[derive(Debug, Clone)]
pub(crate) struct ImageDecoding {
    max_pixels: u64,
    budget: Arc<Semaphore>,
}

/// Decoded pixels: grey where the file has one channel, RGB otherwise.
#[derive(Debug)]
pub(crate) enum Pixels {
    Grey(image::GrayImage),
    Rgb(RgbImage),
}

impl Pixels {
    /// As the recognisers take them; none where the picture is empty.
    pub(crate) fn view(&self) -> Option<PixelView<'_>> {
        match self {
            Self::Grey(grey) => PixelView::grey(grey.width() as usize, grey.height() as usize, grey.as_raw()),
            Self::Rgb(rgb) => PixelView::rgb(rgb.width() as usize, rgb.height() as usize, rgb.as_raw()),
        }
    }
}

/// What a header says decoding takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    n_pixels: u64,
    n_bytes: u64,
}

impl ImageDecoding {
    pub(crate) fn new(max_pixels: u64) -> Self {
        Self { max_pixels, budget: Arc::new(Semaphore::new(BUDGET_MIB as usize)) }
    }

    /// Decodes, and goes on with `then`: a small picture here and now; a large one on a blocking thread, once
    /// there is memory for it.
    pub(crate) async fn decode<T: Send + 'static>(
        &self,
        upload: Upload,
        then: impl FnOnce(Pixels) -> T + Send + 'static,
    ) -> Result<T, Undecodable> {
        let cost = match self.decode_small(&upload)? {
            Decoded::Pixels(pixels) => return Ok(then(pixels)),
            Decoded::Large(cost) => cost,
        };
        let _memory = self.reserve(cost.n_bytes).await;
        let blocking = tokio::task::spawn_blocking(move || {
            let decoder = open(&upload, cost.n_bytes + MIB)?;
            decode(&upload, decoder).map(then)
        });
        match blocking.await {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    /// Reads the header, and decodes a picture that is small.
    pub(crate) fn decode_small(&self, upload: &Upload) -> Result<Decoded, Undecodable> {
        if upload.media_type == MediaType::Jpeg && is_cut_off(&upload.bytes) {
            let detail = "expected a whole image/jpeg: it ends within the picture";
            return Err(Undecodable::new("undecodable", detail));
        }
        let decoder = open(upload, MAX_SMALL_BYTES)?;
        let cost = self.admit(&decoder)?;
        if cost.n_pixels > MAX_INLINE_PIXELS {
            return Ok(Decoded::Large(cost));
        }
        decode(upload, decoder).map(Decoded::Pixels)
    }

    /// What decoding takes, from the header alone.
    fn admit(&self, decoder: &impl ImageDecoder) -> Result<Cost, Undecodable> {
        let (width, height) = decoder.dimensions();
        let n_pixels = u64::from(width) * u64::from(height);
        if n_pixels > self.max_pixels {
            let max = self.max_pixels;
            let detail = format!("{width} × {height} is {n_pixels} pixels, at most {max} are read");
            return Err(Undecodable::new("too_many_pixels", detail));
        }
        // Decoded, then as RGB, and for some formats once more on the way.
        Ok(Cost { n_pixels, n_bytes: decoder.total_bytes() * 2 + n_pixels * 3 })
    }

    async fn reserve(&self, n_bytes: u64) -> Option<OwnedSemaphorePermit> {
        let n_mib = u32::try_from(n_bytes / MIB + 1).unwrap_or(BUDGET_MIB).min(BUDGET_MIB);
        self.budget.clone().acquire_many_owned(n_mib).await.ok() // never closed
    }
}

/// A small picture, decoded, or what a large one takes.
#[derive(Debug)]
pub(crate) enum Decoded {
    Pixels(Pixels),
    Large(Cost),
}

/// Reads the header, for a decoder that uses at most so many bytes.
fn open(upload: &Upload, max_bytes: u64) -> Result<impl ImageDecoder, Undecodable> {
    let format = match upload.media_type {
        MediaType::Png => image::ImageFormat::Png,
        MediaType::Jpeg => image::ImageFormat::Jpeg,
        MediaType::Mp3 | MediaType::Wav => {
            let detail = format!("expected an image, found {}", upload.media_type.name());
            return Err(Undecodable::new("undecodable", detail));
        }
    };
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(max_bytes);
    let mut reader = ImageReader::with_format(Cursor::new(&*upload.bytes), format);
    reader.limits(limits);
    reader.into_decoder().map_err(|e| undecodable(upload, &e))
}

fn decode(upload: &Upload, mut decoder: impl ImageDecoder) -> Result<Pixels, Undecodable> {
    let fail = |e: ImageError| undecodable(upload, &e);
    // A broken EXIF block is no reason to refuse a readable picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(fail)?;
    image.apply_orientation(orientation);
    Ok(match image {
        DynamicImage::ImageLuma8(grey) => Pixels::Grey(grey),
        image if image.color().has_alpha() => Pixels::Rgb(flatten(&image.into_rgba8())),
        image => Pixels::Rgb(image.into_rgb8()),
    })
}

fn undecodable(upload: &Upload, error: &ImageError) -> Undecodable {
    let kind = upload.media_type.name();
    match error {
        ImageError::Limits(error) => {
            let detail = format!("the {kind} claims too large a picture: {error}");
            Undecodable::new("too_many_pixels", detail)
        }
        error => Undecodable::new("undecodable", format!("expected a whole {kind}: {error}")),
    }
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
    let over = |c: u8, a: u8| {
        let (c, a) = (u16::from(c), u16::from(a));
        u8::try_from((c * a + paper * (255 - a) + 127) / 255).unwrap_or(u8::MAX)
    };
    let mut flat = RgbImage::new(image.width(), image.height());
    for (to, from) in flat.pixels_mut().zip(image.pixels()) {
        let [r, g, b, a] = from.0;
        to.0 = [over(r, a), over(g, a), over(b, a)];
    }
    flat
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
        let rgb = |pixels| match pixels {
            Pixels::Grey(grey) => DynamicImage::ImageLuma8(grey).into_rgb8(),
            Pixels::Rgb(rgb) => rgb,
        };
        ImageDecoding::new(1 << 20).decode(upload, rgb).await.map_err(|e| e.code)
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
    async fn large_pictures_are_decoded_like_small_ones() {
        let picture = |side| image::GrayImage::from_fn(side, 200, |x, y| Luma([u8::from(x == y) * 255]));
        for side in [200, 600] {
            let grey = picture(side);
            let upload = encode(&DynamicImage::ImageLuma8(grey.clone()), ImageFormat::Png);
            assert_eq!(rgb(upload).await.unwrap(), DynamicImage::ImageLuma8(grey).into_rgb8());
        }
    }

    #[tokio::test]
    async fn pixels_beyond_the_bound_are_refused_from_the_header() {
        let large = encode(&DynamicImage::new_luma8(2048, 513), ImageFormat::Png);
        assert_eq!(rgb(large).await.unwrap_err(), "too_many_pixels");
    }
}
