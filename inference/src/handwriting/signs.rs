//! Signs above and below a letter: a sign's strokes come in; they come out where they cling to it without
//! touching what is already written.

use super::geometry::{BODY, Point, extent, moved};

/// How near to other ink a sign may come, page units.
const CLEAR: f32 = 4.2;
/// A letter written below another begins this far under the headline.
const BELOW: f32 = 1.14 * BODY;
/// Ways a sign may give way, in steps of this many page units.
const STEP: f32 = 3.0;
/// The furthest it goes up or down, and sideways, steps.
const FURTHEST: (i16, i16) = (9, 12);

/// A small letter as a sign: under the line, centred.
pub(super) fn below_letter(strokes: Vec<Vec<Point>>) -> Vec<Vec<Point>> {
    let [from, to] = extent(strokes.iter().flatten()).unwrap_or_default();
    strokes.into_iter().map(|s| moved(s, -f32::midpoint(from, to), BELOW)).collect()
}

/// Places a sign, whose x = 0 is where it clings, at a letter whose body is `[left, right]`; uprights
/// after it, if there are any, end at `width`. `ink` is what the cell has so far.
pub(super) fn place(
    strokes: Vec<Vec<Point>>,
    [left, right]: [f32; 2],
    width: f32,
    ink: &[Vec<Point>],
) -> Vec<Vec<Point>> {
    let n_points = strokes.iter().map(Vec::len).sum::<usize>().max(1);
    #[expect(clippy::cast_precision_loss, reason = "a few hundred points")]
    let is_below = strokes.iter().flatten().map(|p| p[1]).sum::<f32>() / n_points as f32 > BODY / 2.0;
    let middle = f32::midpoint(left, right);
    // Above an upright sign's letter, a dot stands between the two.
    let at = if !is_below && width > right { f32::midpoint(right, width) } else { middle };
    let near = |p: &&Point| if is_below { p[1] > BODY * 0.5 } else { p[1] < 1.0 };
    let ink: Vec<Point> = ink.iter().flatten().filter(near).copied().collect();
    let sign: Vec<Point> = strokes.iter().flatten().step_by(2).copied().collect();
    let away = if is_below { 1.0 } else { -1.0 };
    let is_clear = |(dx, dy): (f32, f32)| {
        sign.iter().all(|s| {
            // Where a sign touches the line it is drawn to, it touches nothing else.
            (!is_below && s[1] + dy > -1.5)
                || ink.iter().all(|p| (p[0] - s[0] - dx).hypot(p[1] - s[1] - dy) >= CLEAR)
        })
    };
    let (dx, dy) = ways(away).map(|(x, y)| (at + x, y)).find(|w| is_clear(*w)).unwrap_or((at, 0.0));
    strokes.into_iter().map(|s| moved(s, dx, dy)).collect()
}

/// Ways to give way, the least first; to the right before to the left.
fn ways(away: f32) -> impl Iterator<Item = (f32, f32)> {
    let mut ways: Vec<(i16, i16)> =
        (-FURTHEST.1 / 2..=FURTHEST.1).flat_map(|x| (0..=FURTHEST.0).map(move |y| (x, y))).collect();
    ways.sort_by_key(|(x, y)| 2 * x.abs() + 3 * y + i16::from(*x < 0));
    ways.into_iter().map(move |(x, y)| (f32::from(x) * STEP, f32::from(y) * STEP * away))
}
