//! Places signs above and below a letter, without touching the ink that is already there.

use super::geometry::{BODY, Point, distance, extent, moved};

/// The smallest distance between a sign and other ink, page units.
const CLEARANCE: f32 = 4.2;
/// The distance from the headline to the top of a letter that is written below another one.
const BELOW: f32 = 1.14 * BODY;
/// Signs are moved away from other ink in steps of this length, page units.
const STEP: f32 = 3.0;
/// The largest number of steps vertically and horizontally.
const MAX_STEPS: (i16, i16) = (9, 12);

/// Makes a small letter a sign: moves it below the baseline and centres it at x = 0.
pub(super) fn below_letter(strokes: Vec<Vec<Point>>) -> Vec<Vec<Point>> {
    let [from, to] = extent(strokes.iter().flatten()).unwrap_or_default();
    strokes.into_iter().map(|s| moved(s, -f32::midpoint(from, to), BELOW)).collect()
}

/// Whether a sign stands below a letter.
pub(super) fn is_below(strokes: &[Vec<Point>]) -> bool {
    let n_points = strokes.iter().map(Vec::len).sum::<usize>().max(1);
    #[expect(clippy::cast_precision_loss, reason = "a few hundred points")]
    let mean = strokes.iter().flatten().map(|p| p[1]).sum::<f32>() / n_points as f32;
    mean > BODY / 2.0
}

/// Places a sign at a letter whose body is from x = `left` to `right`. The sign's x = 0 is its point of
/// attachment, which is at this `share` of the body. Upright signs after the letter, if there are any, end at x = `width`. `ink` is the ink of the
/// cell so far.
pub(super) fn place<'a>(
    strokes: Vec<Vec<Point>>,
    is_below: bool,
    ([left, right], share): ([f32; 2], f32),
    width: f32,
    ink: impl Iterator<Item = &'a Point>,
) -> Vec<Vec<Point>> {
    // A sign above a letter with an upright sign is placed between the two.
    let at =
        if !is_below && width > right { f32::midpoint(right, width) } else { left + share * (right - left) };
    let near = |p: &&Point| if is_below { p[1] > BODY * 0.5 } else { p[1] < 1.0 };
    let ink: Vec<Point> = ink.filter(near).copied().collect();
    let sign: Vec<Point> = strokes.iter().flatten().step_by(2).copied().collect();
    let away = if is_below { 1.0 } else { -1.0 };
    let is_clear = |(dx, dy): (f32, f32)| {
        sign.iter().all(|s| {
            // The part of a sign that touches the headline is not checked.
            (!is_below && s[1] + dy > -1.5)
                || ink.iter().all(|p| distance(*p, [s[0] + dx, s[1] + dy]) >= CLEARANCE)
        })
    };
    let mut candidates = offsets(away).map(|(x, y)| (at + x, y));
    let (dx, dy) = candidates.find(|offset| is_clear(*offset)).unwrap_or((at, 0.0));
    strokes.into_iter().map(|s| moved(s, dx, dy)).collect()
}

/// Candidate offsets of a sign, the smallest first, and those to the right before those to the left. `away`
/// is the vertical direction away from the letter: 1 is down, -1 is up.
fn offsets(away: f32) -> impl Iterator<Item = (f32, f32)> {
    let (max_y, max_x) = MAX_STEPS;
    let mut offsets: Vec<(i16, i16)> =
        (-max_x / 2..=max_x).flat_map(|x| (0..=max_y).map(move |y| (x, y))).collect();
    offsets.sort_by_key(|(x, y)| 2 * x.abs() + 3 * y + i16::from(*x < 0));
    offsets.into_iter().map(move |(x, y)| (f32::from(x) * STEP, f32::from(y) * STEP * away))
}
