//! A view of a decoded picture. Its size is checked when the view is made.

/// A decoded picture: 8-bit grey or RGB in row-major order, upright and without transparency.
#[derive(Clone, Copy)]
pub struct PixelView<'a> {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Bytes of one pixel: 1 or 3.
    pub(super) n_channels: usize,
    pub(super) pixels: &'a [u8],
}

impl<'a> PixelView<'a> {
    /// A view of `width * height * 3` bytes of RGB; `None` when a side is zero or the length differs.
    #[must_use]
    pub fn rgb(width: usize, height: usize, pixels: &'a [u8]) -> Option<Self> {
        Self::new(width, height, 3, pixels)
    }

    /// A view of `width * height` bytes of grey; `None` when a side is zero or the length differs.
    #[must_use]
    pub fn grey(width: usize, height: usize, pixels: &'a [u8]) -> Option<Self> {
        Self::new(width, height, 1, pixels)
    }

    fn new(width: usize, height: usize, n_channels: usize, pixels: &'a [u8]) -> Option<Self> {
        let n_bytes = width.checked_mul(height)?.checked_mul(n_channels)?;
        (n_bytes > 0 && pixels.len() == n_bytes).then_some(Self { width, height, n_channels, pixels })
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
