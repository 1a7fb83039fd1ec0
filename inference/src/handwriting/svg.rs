//! Draws a sheet as an SVG of the same size and look as the PNG.

use std::fmt::Write as _;

use super::{page::Sheet, picture::Ink, points::Hundredths, widths};

/// The bytes of a part's markup without its points, and of one point, about.
const BYTES: [usize; 2] = [40, 14];

/// Draws the sheet as an SVG. Each stroke is a `g` in the order of writing, and each of its parts a `path` of one width.
/// `width` is the width of the pen in page units; one page unit is one unit of the SVG.
pub fn svg(sheet: &Sheet, Ink([red, green, blue]): Ink, width: f32) -> String {
    let strokes: Vec<_> = sheet.strokes.iter().map(|stroke| widths::parts(stroke)).collect();
    let n_bytes: usize = strokes.iter().flatten().map(|part| BYTES[0] + BYTES[1] * part.points.len()).sum();
    let [page_width, height] = sheet.size();
    let mut svg = String::with_capacity(400 + n_bytes);
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{page_width}" height="{height}" viewBox="0 0 {page_width} {height}"><rect width="100%" height="100%" fill="#ffffff"/><g fill="none" stroke="#{red:02x}{green:02x}{blue:02x}" stroke-linecap="round" stroke-linejoin="round">"##
    );
    for parts in strokes {
        svg.push_str("\n<g>");
        for part in parts {
            let _ =
                write!(svg, r#"<path stroke-width="{}" d=""#, Hundredths(width * widths::share(part.width)));
            for (command, [x, y]) in std::iter::once('M').chain(std::iter::repeat('L')).zip(part.points) {
                let _ = write!(svg, "{command}{} {}", Hundredths(x), Hundredths(y));
            }
            svg.push_str(r#""/>"#);
        }
        svg.push_str("</g>");
    }
    svg.push_str("\n</g></svg>\n");
    svg
}
