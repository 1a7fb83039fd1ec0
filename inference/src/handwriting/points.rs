//! Writes strokes as JSON: the `points` object of the API.

use std::{
    fmt::{self, Display, Formatter},
    io::Write as _,
};

use super::{geometry::Point, page::Sheet};

impl Sheet {
    /// The strokes as `{"x": [[…], …], "y": [[…], …]}` in page units. Each inner array is one stroke, and
    /// numbers have at most two decimals.
    pub fn points_json(&self) -> Vec<u8> {
        let n_points: usize = self.strokes.iter().map(Vec::len).sum();
        let mut json = Vec::with_capacity(16 * n_points + 64);
        json.extend_from_slice(b"{\"x\":");
        axis(&mut json, &self.strokes, 0);
        json.extend_from_slice(b",\"y\":");
        axis(&mut json, &self.strokes, 1);
        json.push(b'}');
        json
    }
}

fn axis(json: &mut Vec<u8>, strokes: &[Vec<Point>], k: usize) {
    json.push(b'[');
    for (i, stroke) in strokes.iter().enumerate() {
        json.extend_from_slice(if i == 0 { b"[" } else { b",[" });
        for (j, point) in stroke.iter().enumerate() {
            if j > 0 {
                json.push(b',');
            }
            // Writing to a Vec cannot fail.
            let _ = write!(json, "{}", Hundredths(point[k]));
        }
        json.push(b']');
    }
    json.push(b']');
}

/// A non-negative number in its shortest form with at most two decimals.
pub(super) struct Hundredths(pub(super) f32);

impl Display for Hundredths {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "coordinates on the sheet are small"
        )]
        let hundredths = (f64::from(self.0) * 100.0).round().max(0.0) as u32;
        let (whole, rest) = (hundredths / 100, hundredths % 100);
        match rest {
            0 => write!(f, "{whole}"),
            r if r % 10 == 0 => write!(f, "{whole}.{}", r / 10),
            r => write!(f, "{whole}.{r:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_written_with_at_most_two_decimals() {
        let strokes = vec![vec![[0.0, 1.5], [2.25, 3.04]], vec![[549.99, 10.0], [550.0, 0.1]]];
        let sheet = Sheet { strokes, width: 550.0, page_length: 550.0, n_pages: 1 };
        let json = String::from_utf8(sheet.points_json()).unwrap();
        assert_eq!(json, r#"{"x":[[0,2.25],[549.99,550]],"y":[[1.5,3.04],[10,0.1]]}"#);
    }
}
