//! Decoded pictures as bytes in memory; their sizes are checked when a view is made.

/// 8-bit RGB, row-major, already decoded, oriented, alpha-flattened.
#[derive(Clone, Copy)]
pub struct RgbView<'a> {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: &'a [u8],
}

impl<'a> RgbView<'a> {
    /// A view of `width * height * 3` bytes; `None` when a side is zero or the length differs.
    #[must_use]
    pub fn new(width: usize, height: usize, pixels: &'a [u8]) -> Option<Self> {
        let n_bytes = width.checked_mul(height)?.checked_mul(3)?;
        (n_bytes > 0 && pixels.len() == n_bytes).then_some(Self { width, height, pixels })
    }

    /// Width in pixels, at least 1.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels, at least 1.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }
}
