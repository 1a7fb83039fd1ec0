//! Renders a sheet as a PNG with white paper and 16 shades from white to the colour of the ink.

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Filter};
use tiny_skia::{FillRule, LineJoin, Mask, Path, PathBuilder, Stroke, Transform};

use super::{
    geometry::Point,
    page::Sheet,
    widths::{self, WIDTHS},
};

/// Shades from paper to ink. 16 shades need four bits for each pixel.
const SHADES: u8 = 16;
/// The rasteriser's resolution scale: curves are flattened for a scale of one pixel to the unit.
const RESOLUTION: f32 = 1.0;

/// The colour of an ink, sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink(pub [u8; 3]);

/// Colours of real inks on white paper. Pure yellow would not be readable.
impl Ink {
    /// #1A1A1E
    pub const BLACK: Self = Self([0x1A, 0x1A, 0x1E]);
    /// #1F3FA8
    pub const BLUE: Self = Self([0x1F, 0x3F, 0xA8]);
    /// #D6408C
    pub const PINK: Self = Self([0xD6, 0x40, 0x8C]);
    /// #1E7F3C
    pub const GREEN: Self = Self([0x1E, 0x7F, 0x3C]);
    /// #D9A406
    pub const YELLOW: Self = Self([0xD9, 0xA4, 0x06]);
    /// #6E4420
    pub const BROWN: Self = Self([0x6E, 0x44, 0x20]);
}

/// The reason why a picture could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// A side of the picture is smaller than 1 pixel or larger than a million.
    #[error("cannot draw a picture of {0} × {1} pixels: expected 1 to 1000000 pixels on each side")]
    Size(f32, f32),
    /// The PNG encoder failed.
    #[error("cannot encode the picture as PNG: {0}")]
    Encode(#[from] EncodingError),
}

/// Renders the sheet as a PNG file. `width` is the width of the pen in page units; one page unit is one
/// pixel.
///
/// # Errors
///
/// When a side of the sheet is shorter than 1 or longer than 1,000,000 pixels, or the encoder fails.
pub fn png(sheet: &Sheet, ink: Ink, width: f32) -> Result<Vec<u8>, PictureError> {
    let pages = Rows::of(sheet)?;
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, pages.width, pages.height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Four);
    encoder.set_palette(palette(ink));
    encoder.set_compression(Compression::Balanced);
    encoder.set_filter(Filter::NoFilter);
    let mut writer = encoder.write_header()?;
    let mut stream = writer.stream_writer()?;
    let area = inked_area(sheet, width);
    for (from, n_rows) in pages.bands() {
        let mask = pages.draw(area.as_ref(), from, n_rows)?;
        std::io::Write::write_all(&mut stream, &packed(&mask)).map_err(EncodingError::from)?;
    }
    stream.finish()?;
    writer.finish()?;
    Ok(bytes)
}

/// The rows of the picture. They are drawn in bands of one page's height, so that the memory does not grow
/// with the number of pages.
struct Rows {
    width: u32,
    height: u32,
    band: u32,
}

impl Rows {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
    fn of(sheet: &Sheet) -> Result<Self, PictureError> {
        let [width, height] = sheet.size();
        let fits = |n: f32| (1.0..=1e6).contains(&n);
        if !fits(width) || !fits(sheet.page_length) || !fits(height) {
            return Err(PictureError::Size(width, height));
        }
        Ok(Self { width: width as u32, height: height as u32, band: sheet.page_length.round() as u32 })
    }

    /// The first row of each band and its number of rows.
    fn bands(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.height).step_by(self.band as usize).map(|from| (from, self.band.min(self.height - from)))
    }

    fn draw(&self, area: Option<&Path>, from: u32, n_rows: u32) -> Result<Mask, PictureError> {
        #[expect(clippy::cast_precision_loss, reason = "at most 1e6")]
        let (top, rows) = (from as f32, n_rows as f32);
        let mut mask = Mask::new(self.width, n_rows).ok_or(PictureError::Size(0.0, rows))?;
        if let Some(area) = area {
            mask.fill_path(area, FillRule::Winding, true, Transform::from_translate(0.0, -top));
        }
        Ok(mask)
    }
}

/// The area that the strokes cover. All parts of one width are outlined together.
fn inked_area(sheet: &Sheet, width: f32) -> Option<Path> {
    let mut lines: [PathBuilder; WIDTHS] = std::array::from_fn(|_| PathBuilder::new());
    let mut area = PathBuilder::new();
    for stroke in &sheet.strokes {
        draw(&mut lines, &mut area, stroke, width);
    }
    for (builder, i) in lines.into_iter().zip(0..) {
        // Round joins would take most of the time. Smooth curves do not need them, and `draw` has rounded the
        // corners.
        let pen = Stroke { width: width * widths::share(i), line_join: LineJoin::Bevel, ..Stroke::default() };
        if let Some(outline) = builder.finish().and_then(|path| path.stroke(&pen, RESOLUTION)) {
            area.push_path(&outline);
        }
    }
    area.finish()
}

/// Adds a stroke. Its ends and corners become circles in `area`, and its parts become lines of their width.
fn draw(lines: &mut [PathBuilder; WIDTHS], area: &mut PathBuilder, stroke: &[Point], width: f32) {
    let parts = widths::parts(stroke);
    let mut round = |[x, y]: Point, i: usize| area.push_circle(x, y, width * widths::share(i) / 2.0);
    if let (Some(first), [point, ..]) = (parts.first(), stroke) {
        round(*point, first.width);
    }
    for part in parts {
        let (Some(builder), [[x, y], others @ .., last]) = (lines.get_mut(part.width), &part.points[..])
        else {
            continue;
        };
        builder.move_to(*x, *y);
        others.iter().chain([last]).for_each(|[x, y]| builder.line_to(*x, *y));
        if part.is_last_or_at_corner {
            round(*last, part.width);
        }
    }
}

/// The palette from white to the ink's colour, in even steps.
fn palette(Ink(ink): Ink) -> Vec<u8> {
    let shade = |step: u8| {
        ink.map(|c| {
            let [step, last, c] = [step, SHADES - 1, c].map(u16::from);
            u8::try_from(255 - (255 - c) * step / last).unwrap_or(u8::MAX)
        })
    };
    (0..SHADES).flat_map(shade).collect()
}

/// The coverage as palette indices of four bits, two in a byte. Each row begins with a new byte.
fn packed(mask: &Mask) -> Vec<u8> {
    // 255 / 15 = 17, so this is the nearest of the sixteen shades.
    let shade = |coverage: u8| coverage.saturating_add(8) / 17;
    let pair = |pixels: &[u8]| shade(pixels[0]) << 4 | pixels.get(1).map_or(0, |p| shade(*p));
    mask.data().chunks(mask.width() as usize).flat_map(|row| row.chunks(2).map(pair)).collect()
}
