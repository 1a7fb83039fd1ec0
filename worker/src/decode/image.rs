//! Decodes an image file into 8-bit grey or RGB pixels. The picture is turned upright, and transparency is
//! flattened. Limits on pixels and memory are checked before any pixel is decoded.

use std::{io::Cursor, sync::Arc};

use akhar_inference::ink::PixelView;
use akhar_platform::blocking::blocking;
use akhar_requests::{MediaType, Upload};
use bytes::Bytes;
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, RgbImage, RgbaImage,
    metadata::Orientation,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{guard, jpeg, png, undecodable::Undecodable};

/// Memory that all large pictures that one process is decoding may use together, MiB. One large picture fits;
/// several wait for one another.
const BUDGET_MIB: u32 = 256;

/// Pictures of at most so many pixels are decoded on the calling thread. This takes well below a millisecond,
/// which is less than passing them to a blocking thread and back.
const MAX_INLINE_PIXELS: u64 = 256 * 256;

/// Pixels that a picture may have by its header. A PNG of a few kilobytes can decode to gigabytes.
pub(crate) const MAX_PIXELS: u64 = 4096 * 4096;

/// The longest side of a picture, pixels. The work on a picture grows with its longest side, even if it has few pixels.
const MAX_SIDE: u32 = 16_384;

const MIB: u64 = 1024 * 1024;

/// Memory that reading a header or decoding a small picture may use, bytes.
const MAX_SMALL_BYTES: u64 = 4 * MIB;

/// Decodes images within the process's memory budget. Clones share the budget.
#[derive(Debug, Clone)]
pub(crate) struct ImageDecoding {
    max_pixels: u64,
    budget: Arc<Semaphore>,
}

/// Decoded pixels: grey where the file has one channel, RGB otherwise.
#[derive(Debug, PartialEq)]
pub(crate) enum Pixels {
    Grey(image::GrayImage),
    Rgb(RgbImage),
}

impl Pixels {
    /// A view for [`akhar_inference::ink`]; `None` if the picture has no pixels.
    pub(crate) fn view(&self) -> Option<PixelView<'_>> {
        match self {
            Self::Grey(grey) => PixelView::grey(grey.width() as usize, grey.height() as usize, grey.as_raw()),
            Self::Rgb(rgb) => PixelView::rgb(rgb.width() as usize, rgb.height() as usize, rgb.as_raw()),
        }
    }
}

/// The pixels and memory that decoding needs, computed from the header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    n_pixels: u64,
    n_bytes: u64,
}

impl ImageDecoding {
    pub(crate) fn new(max_pixels: u64) -> Self {
        Self { max_pixels, budget: Arc::new(Semaphore::new(BUDGET_MIB as usize)) }
    }

    /// Decodes a picture and applies `then` to its pixels. A small picture is decoded on the calling thread;
    /// a large one waits for its share of the memory budget and is decoded on a blocking thread.
    pub(crate) async fn decode<T: Send + 'static>(
        &self,
        upload: Upload,
        then: impl FnOnce(Pixels) -> T + Send + 'static,
    ) -> Result<T, Undecodable> {
        let cost = match self.decode_small(&upload)? {
            DecodedImage::Pixels(pixels) => return Ok(then(pixels)),
            DecodedImage::Large(cost) => cost,
        };
        let _memory = self.reserve(cost.n_bytes).await;
        let max_bytes = cost.n_bytes + MIB;
        blocking(move || {
            let file = CompleteFile::of(&upload)?;
            file.decode(file.open(&file.bytes, max_bytes)?, max_bytes).map(then)
        })
        .await
    }

    /// Reads the header, and decodes the picture if it is small.
    pub(crate) fn decode_small(&self, upload: &Upload) -> Result<DecodedImage, Undecodable> {
        let file = CompleteFile::of(upload)?;
        let decoder = file.open(&file.bytes, MAX_SMALL_BYTES)?;
        let cost = self.check_size(&decoder)?;
        if cost.n_pixels > MAX_INLINE_PIXELS {
            return Ok(DecodedImage::Large(cost));
        }
        file.decode(decoder, MAX_SMALL_BYTES).map(DecodedImage::Pixels)
    }

    /// Checks the header's dimensions against the limit, and computes what decoding needs.
    fn check_size(&self, decoder: &impl ImageDecoder) -> Result<Cost, Undecodable> {
        let (width, height) = decoder.dimensions();
        let n_pixels = u64::from(width) * u64::from(height);
        if n_pixels > self.max_pixels {
            let max = self.max_pixels;
            let detail = format!(
                "the image has {width} × {height} = {n_pixels} pixels, but at most {max} are allowed: \
                 send a smaller image"
            );
            return Err(Undecodable::new("too_many_pixels", detail));
        }
        if width.max(height) > MAX_SIDE {
            let detail = format!(
                "the image has {width} × {height} pixels, but a side of at most {MAX_SIDE} is allowed: send a smaller image"
            );
            return Err(Undecodable::new("too_many_pixels", detail));
        }
        // The decoded picture, for some formats a second copy of it, and the picture as RGB.
        Ok(Cost { n_pixels, n_bytes: decoder.total_bytes() * 2 + n_pixels * 3 })
    }

    async fn reserve(&self, n_bytes: u64) -> Option<OwnedSemaphorePermit> {
        let n_mib = u32::try_from(n_bytes / MIB + 1).unwrap_or(BUDGET_MIB).min(BUDGET_MIB);
        self.budget.clone().acquire_many_owned(n_mib).await.ok() // the semaphore is never closed
    }
}

/// A decoded small picture, or what decoding a large one needs.
#[derive(Debug)]
pub(crate) enum DecodedImage {
    Pixels(Pixels),
    Large(Cost),
}

/// A file with the end that its format asks for.
struct CompleteFile {
    format: ImageFormat,
    kind: &'static str,
    bytes: Bytes,
    /// If the end was missing: files of the same picture, unless more was missing.
    others: Vec<Vec<u8>>,
}

impl CompleteFile {
    fn of(upload: &Upload) -> Result<Self, Undecodable> {
        let kind = upload.media_type.name();
        let bytes = upload.bytes.clone();
        match upload.media_type {
            MediaType::Png => {
                let bytes = png::completed(&bytes).map_or(bytes, Bytes::from);
                Ok(Self { format: ImageFormat::Png, kind, bytes, others: Vec::new() })
            }
            MediaType::Jpeg => {
                let mut others = jpeg::completed(&bytes)?.map_or_else(Vec::new, Vec::from);
                let bytes = others.pop().map_or(bytes, Bytes::from);
                Ok(Self { format: ImageFormat::Jpeg, kind, bytes, others })
            }
            MediaType::Mp3
            | MediaType::Wav
            | MediaType::Flac
            | MediaType::Ogg
            | MediaType::Mp4
            | MediaType::WebM
            | MediaType::Aac => {
                let detail = format!("expected a PNG or JPEG image, but the file is {kind}");
                Err(Undecodable::new("undecodable", detail))
            }
        }
    }

    /// Reads the header and returns a decoder that may use at most `max_bytes` of memory.
    fn open<'a>(&self, bytes: &'a [u8], max_bytes: u64) -> Result<impl ImageDecoder + use<'a>, Undecodable> {
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(max_bytes);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), self.format);
        reader.limits(limits);
        guard::decoded("header", || reader.into_decoder().map_err(|e| self.undecodable(&e)))
    }

    /// Decodes the opened file.
    fn decode(&self, decoder: impl ImageDecoder, max_bytes: u64) -> Result<Pixels, Undecodable> {
        guard::decoded("picture", || {
            let picture = decode(decoder).map_err(|e| self.undecodable(&e))?;
            let is_whole = self.others.iter().all(|other| {
                self.open(other, max_bytes)
                    .is_ok_and(|other| decode(other).is_ok_and(|other| other == picture))
            });
            if is_whole { Ok(picture) } else { Err(jpeg::cut_off()) }
        })
    }

    fn undecodable(&self, error: &ImageError) -> Undecodable {
        let kind = self.kind;
        match error {
            ImageError::Limits(error) => {
                let detail =
                    format!("the header of the {kind} describes a picture that is too large: {error}");
                Undecodable::new("too_many_pixels", detail)
            }
            // What the decoder says of bytes that do not belong to the file would mislead.
            _ if !self.others.is_empty() => jpeg::cut_off(),
            error => {
                Undecodable::new("undecodable", format!("the file is not a complete, valid {kind}: {error}"))
            }
        }
    }
}

fn decode(mut decoder: impl ImageDecoder) -> Result<Pixels, ImageError> {
    // A readable picture with a broken EXIF block is accepted and not turned.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(match image {
        DynamicImage::ImageLuma8(grey) => Pixels::Grey(grey),
        image if image.color().has_alpha() => Pixels::Rgb(flatten(&image.into_rgba8())),
        image => Pixels::Rgb(image.into_rgb8()),
    })
}

/// Draws a picture with transparency on a white background. The background is black if the picture is mostly
/// transparent and its visible part is light, because white ink would not show on white.
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
    let background: u16 = if is_sparse && is_light { 0 } else { 255 };
    let over = |c: u8, a: u8| {
        let (c, a) = (u16::from(c), u16::from(a));
        u8::try_from((c * a + background * (255 - a) + 127) / 255).unwrap_or(u8::MAX)
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
    use image::{Luma, Rgba};

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
    async fn transparent_pictures_get_a_background_on_which_their_ink_shows() {
        for (ink, background) in [(0, 255), (255, 0)] {
            let image = RgbaImage::from_fn(5, 5, |x, _| Rgba([ink, ink, ink, u8::from(x == 2) * 255]));
            let flat = rgb(encode(&DynamicImage::ImageRgba8(image), ImageFormat::Png)).await.unwrap();
            assert_eq!(flat.get_pixel(0, 0).0, [background; 3]);
            assert_eq!(flat.get_pixel(2, 0).0, [ink; 3]);
        }
        let mostly_opaque = RgbaImage::from_fn(5, 5, |x, _| Rgba([255, 255, 255, u8::from(x > 0) * 255]));
        let flat = rgb(encode(&DynamicImage::ImageRgba8(mostly_opaque), ImageFormat::Png)).await.unwrap();
        assert_eq!(flat.get_pixel(0, 0).0, [255; 3]);
    }

    #[tokio::test]
    async fn a_cut_png_gives_the_whole_picture_or_none() {
        let grey = image::GrayImage::from_fn(9, 9, |x, y| Luma([u8::from(x == y) * 255]));
        let whole = encode(&DynamicImage::ImageLuma8(grey), ImageFormat::Png);
        let picture = rgb(whole.clone()).await.unwrap();
        let n_without_end = whole.bytes.len() - 12;
        for n in 0..whole.bytes.len() {
            let cut = Upload { media_type: whole.media_type, bytes: whole.bytes[..n].to_vec().into() };
            match rgb(cut).await {
                Ok(read) => assert_eq!(read, picture),
                Err(code) => {
                    assert_eq!(code, "undecodable");
                    assert!(n < n_without_end, "a file without its end chunk is read");
                }
            }
        }
    }

    /// A decoder that panics, as one with a defect does on a damaged file.
    struct Defective;

    impl ImageDecoder for Defective {
        fn dimensions(&self) -> (u32, u32) {
            (2, 2)
        }

        fn color_type(&self) -> image::ColorType {
            image::ColorType::L8
        }

        fn read_image(self, _: &mut [u8]) -> image::ImageResult<()> {
            panic!("a defect");
        }

        fn read_image_boxed(self: Box<Self>, pixels: &mut [u8]) -> image::ImageResult<()> {
            (*self).read_image(pixels)
        }
    }

    #[test]
    fn a_decoder_that_panics_makes_the_picture_undecodable() {
        let upload = encode(&DynamicImage::new_luma8(2, 2), ImageFormat::Png);
        let file = CompleteFile::of(&upload).unwrap();
        assert_eq!(file.decode(Defective, MAX_SMALL_BYTES).unwrap_err().code, "undecodable");
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
    async fn a_picture_with_too_many_pixels_is_refused_from_its_header() {
        let large = encode(&DynamicImage::new_luma8(2048, 513), ImageFormat::Png);
        assert_eq!(rgb(large).await.unwrap_err(), "too_many_pixels");
        let long = encode(&DynamicImage::new_luma8(MAX_SIDE + 1, 2), ImageFormat::Png);
        assert_eq!(rgb(long).await.unwrap_err(), "too_many_pixels");
    }
}
