//! Feature extraction as a filter for training: it reads RGB pictures and writes their ink coverage.

use std::io::{self, Read, Write};

use super::{features::features, frame::SIDE, mark::NoInk, view::PixelView};

/// The largest number of pixels in a frame. The limit bounds the filter's memory.
const MAX_FRAME_PIXELS: u64 = 1 << 26;

/// Computes the features of all frames in `input`. Returns the number of frames.
///
/// Each input frame is its width and height as little-endian `u32`, then `width * height * 3` bytes of RGB.
/// Each output frame is one status byte (0 = ink, 1 = no ink), then `SIDE * SIDE` bytes of coverage (times
/// 255, rounded; zeros when there is no ink). The output is flushed after every frame, so that a caller can
/// wait for it.
///
/// # Errors
/// Any error of reading or writing; `InvalidData` for a frame with no pixels or more than 2^26.
pub fn stream(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<u64> {
    let mut n_frames = 0;
    let mut pixels = Vec::new();
    let mut reply = vec![0_u8; 1 + SIDE * SIDE];
    while let Some((width, height)) = read_header(input)? {
        let n_pixels = u64::from(width) * u64::from(height);
        if n_pixels == 0 || n_pixels > MAX_FRAME_PIXELS {
            let error = format!(
                "a frame of {width} x {height} pixels: expected 1 to {MAX_FRAME_PIXELS} pixels in all"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        pixels.resize(n_pixels as usize * 3, 0);
        input.read_exact(&mut pixels)?;
        reply.fill(0);
        let view = PixelView::rgb(width as usize, height as usize, &pixels);
        match view.ok_or(NoInk).and_then(features) {
            Ok(values) => {
                for (byte, value) in reply[1..].iter_mut().zip(values) {
                    *byte = (value * 255.0).round() as u8;
                }
            }
            Err(NoInk) => reply[0] = 1,
        }
        output.write_all(&reply)?;
        output.flush()?;
        n_frames += 1;
    }
    Ok(n_frames)
}

/// Reads the width and height of the next frame. `None` if the input ends before it.
fn read_header(input: &mut dyn Read) -> io::Result<Option<(u32, u32)>> {
    let mut header = [0_u8; 8];
    let mut n_read = 0;
    while n_read < header.len() {
        match input.read(&mut header[n_read..]) {
            Ok(0) if n_read == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let [w0, w1, w2, w3, h0, h1, h2, h3] = header;
    Ok(Some((u32::from_le_bytes([w0, w1, w2, w3]), u32::from_le_bytes([h0, h1, h2, h3]))))
}
