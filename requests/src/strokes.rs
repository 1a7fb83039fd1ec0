//! The stored form of strokes: a third of their JSON text. Their coordinates are hundredths, and each is stored as the
//! difference to the one before it, in as few bytes as it needs (LEB128 of its zigzag form).

use std::io::Write as _;

use serde::Deserialize;

/// The strokes of handwriting: of each, the coordinates of its points.
#[derive(Deserialize)]
struct Strokes {
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
}

/// The stored form of the `points` object of a response. `None` if [`read`] would not give the same text.
pub(crate) fn store(json: &[u8]) -> Option<Vec<u8>> {
    let Strokes { x, y } = serde_json::from_slice(json).ok()?;
    let mut bytes = Vec::with_capacity(json.len() / 4);
    for axis in [x, y] {
        write(&mut bytes, i64::try_from(axis.len()).ok()?);
        for stroke in axis {
            write(&mut bytes, i64::try_from(stroke.len()).ok()?);
            let mut last = 0;
            for coordinate in stroke {
                let hundredths = hundredths(coordinate)?;
                write(&mut bytes, hundredths - last);
                last = hundredths;
            }
        }
    }
    (read(&bytes).as_deref() == Some(json)).then_some(bytes)
}

/// The JSON text of what [`store`] gave. `None` for other bytes.
pub(crate) fn read(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let bytes = &mut bytes;
    let mut json = Vec::with_capacity(6 * bytes.len());
    for name in ["{\"x\":[", "],\"y\":["] {
        json.extend_from_slice(name.as_bytes());
        for nth in 0..next(bytes)? {
            json.extend_from_slice(if nth == 0 { b"[" } else { b",[" });
            let mut last = 0_i64;
            for nth in 0..next(bytes)? {
                last = last.checked_add(next(bytes)?)?;
                let separator = if nth == 0 { "" } else { "," };
                let (whole, rest) = (last / 100, last % 100);
                // Writing to a Vec cannot fail.
                let _ = match rest {
                    0 => write!(json, "{separator}{whole}"),
                    rest if rest % 10 == 0 => write!(json, "{separator}{whole}.{}", rest / 10),
                    rest => write!(json, "{separator}{whole}.{rest:02}"),
                };
            }
            json.push(b']');
        }
    }
    json.extend_from_slice(b"]}");
    bytes.is_empty().then_some(json)
}

#[expect(clippy::cast_possible_truncation, reason = "it is within the bounds")]
fn hundredths(coordinate: f64) -> Option<i64> {
    let hundredths = (coordinate * 100.0).round();
    (0.0..1e9).contains(&hundredths).then_some(hundredths as i64)
}

fn write(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
    while rest >= 0x80 {
        bytes.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    bytes.push(rest.to_le_bytes()[0]);
}

/// Takes the next number from the bytes.
fn next(bytes: &mut &[u8]) -> Option<i64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strokes_are_stored_in_few_bytes_and_read_as_they_were() {
        let json = br#"{"x":[[0,2.25,12.5],[549.99,550]],"y":[[1.5,3.04,0.07],[10,0.1]]}"#;
        let stored = store(json).unwrap();
        assert_eq!(stored.len(), 25);
        assert_eq!(read(&stored).unwrap(), json);
        assert_eq!(read(&store(br#"{"x":[],"y":[]}"#).unwrap()).unwrap(), br#"{"x":[],"y":[]}"#);
    }

    #[test]
    fn what_would_not_be_read_as_it_was_is_not_stored_so() {
        for json in [
            "",
            "{}",
            r#"{"x":[[1.0]],"y":[[1]]}"#,
            r#"{"x":[[1.001]],"y":[[1]]}"#,
            r#"{"x":[[-1]],"y":[[1]]}"#,
        ] {
            assert_eq!(store(json.as_bytes()), None, "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_strokes_are_read_as_they_were(
            axes in prop::array::uniform2(prop::collection::vec(prop::collection::vec(0_u32..100_000, 0..8), 0..8))
        ) {
            let number = |n: &u32| format!("{}", f64::from(*n) / 100.0);
            let stroke = |s: &Vec<u32>| format!("[{}]", s.iter().map(number).collect::<Vec<_>>().join(","));
            let [x, y] = axes.map(|axis| axis.iter().map(stroke).collect::<Vec<_>>().join(","));
            let json = format!("{{\"x\":[{x}],\"y\":[{y}]}}");
            let stored = store(json.as_bytes()).expect("it can be stored");
            prop_assert_eq!(read(&stored).unwrap(), json.into_bytes());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read(&bytes);
        }
    }
}
