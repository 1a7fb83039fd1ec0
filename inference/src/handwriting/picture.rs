//! Renders a sheet as a PNG with white paper and 16 shades from white to the colour of the ink.

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Filter};
use tiny_skia::{FillRule, LineJoin, Mask, Path, PathBuilder, Stroke, Transform};

use super::{geometry::Point, page::Sheet, pen::MAX_STEP};

/// Shades from paper to ink. 16 shades need four bits for each pixel.
const SHADES: u8 = 16;
/// The smallest and the largest width of a line, as shares of the pen's width. A slow pen draws wider.
const PRESSURE: [f32; 2] = [0.84, 1.12];
/// The number of different line widths.
const WIDTHS: usize = 7;
/// A point within this distance of a line counts as on the line, pixels.
const TOLERANCE: f32 = 0.06;
/// The largest number of points that one straight line replaces.
const LONGEST_CHORD: usize = 16;
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
        let height = sheet.page_length * f32::from(sheet.n_pages);
        let fits = |n: f32| (1.0..=1e6).contains(&n);
        if !fits(sheet.width) || !fits(sheet.page_length) || !fits(height) {
            return Err(PictureError::Size(sheet.width, height));
        }
        Ok(Self {
            width: sheet.width.round() as u32,
            height: height.round() as u32,
            band: sheet.page_length.round() as u32,
        })
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

/// The area that the strokes cover. Strokes are cut where the line width changes, and all pieces of one width
/// are outlined together.
fn inked_area(sheet: &Sheet, width: f32) -> Option<Path> {
    let mut pieces: [PathBuilder; WIDTHS] = std::array::from_fn(|_| PathBuilder::new());
    let mut area = PathBuilder::new();
    for stroke in &sheet.strokes {
        draw(&mut pieces, &mut area, stroke, width);
    }
    for (builder, i) in pieces.into_iter().zip(0..) {
        // Round joins would take most of the time. Smooth curves do not need them, and `draw` has rounded the
        // corners.
        let pen = Stroke { width: width * pressed(i), line_join: LineJoin::Bevel, ..Stroke::default() };
        if let Some(outline) = builder.finish().and_then(|path| path.stroke(&pen, RESOLUTION)) {
            area.push_path(&outline);
        }
    }
    area.finish()
}

/// The line width at this pressure, as a share of the pen's width.
#[expect(clippy::cast_precision_loss, reason = "there are few widths")]
fn pressed(pressure: usize) -> f32 {
    PRESSURE[0] + (PRESSURE[1] - PRESSURE[0]) * pressure as f32 / (WIDTHS - 1) as f32
}

/// Adds a stroke. Its ends and corners become circles in `area`. The parts between them become lines in the
/// piece of their width, and each line reaches one point into the next one.
fn draw(pieces: &mut [PathBuilder; WIDTHS], area: &mut PathBuilder, stroke: &[Point], width: f32) {
    let pressures = pressures(stroke);
    let (Some(first), Some(last)) = (pressures.first(), pressures.last()) else { return };
    let mut round = |[x, y]: Point, pressure: usize| area.push_circle(x, y, width * pressed(pressure) / 2.0);
    round(stroke[0], *first);
    round(stroke[stroke.len() - 1], *last);
    let mut from = 0;
    for to in 1..stroke.len() {
        let is_end = to + 1 == stroke.len();
        let is_corner = !is_end && is_sharp(stroke[to - 1], stroke[to], stroke[to + 1]);
        if is_corner {
            round(stroke[to], pressures[from]);
        }
        if !is_end && !is_corner && pressures[to] == pressures[from] {
            continue;
        }
        let end = if is_end || is_corner { to } else { to + 1 };
        if let Some(builder) = pieces.get_mut(pressures[from]) {
            builder.move_to(stroke[from][0], stroke[from][1]);
            thinned(&stroke[from..=end]).for_each(|[x, y]| builder.line_to(x, y));
        }
        from = to;
    }
}

/// The points after the first, without those that lie on a straight line between others. So there are fewer
/// edges to fill.
fn thinned(points: &[Point]) -> impl Iterator<Item = Point> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let last = points.len() - 1;
        let mut to = from + 1;
        while to < last && to - from < LONGEST_CHORD && is_straight(&points[from..=to + 1]) {
            to += 1;
        }
        from = to;
        points.get(to).copied()
    })
}

/// Whether all points lie within [`TOLERANCE`] of the line from the first to the last.
fn is_straight(points: &[Point]) -> bool {
    let (Some(a), Some(b)) = (points.first(), points.last()) else { return true };
    let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    let length = dx.hypot(dy).max(1e-6);
    points.iter().all(|p| ((p[0] - a[0]) * dy - (p[1] - a[1]) * dx).abs() <= TOLERANCE * length)
}

/// Whether a path turns by more than about 25 degrees at its middle point.
fn is_sharp(from: Point, at: Point, to: Point) -> bool {
    let [a, b] = [[at[0] - from[0], at[1] - from[1]], [to[0] - at[0], to[1] - at[1]]];
    let along = a[0] * b[0] + a[1] * b[1];
    along < 0.9 * a[0].hypot(a[1]) * b[0].hypot(b[1])
}

/// The pressure (an index of the line widths) from each point to the next. The faster the pen moves, the
/// lower the pressure.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number from 0 to 1, times a small number"
)]
fn pressures(stroke: &[Point]) -> Vec<usize> {
    let speeds: Vec<f32> = stroke.windows(2).map(|w| (w[0][0] - w[1][0]).hypot(w[0][1] - w[1][1])).collect();
    // The pressure changes slowly: it follows a running mean of the speed over about a dozen points.
    let mut slow = speeds.first().copied().unwrap_or(0.0);
    speeds
        .iter()
        .map(|speed| {
            slow += 0.15 * (speed - slow);
            let pressure = 1.0 - (slow / MAX_STEP).min(1.0);
            (pressure * (WIDTHS - 1) as f32).round() as usize
        })
        .collect()
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
