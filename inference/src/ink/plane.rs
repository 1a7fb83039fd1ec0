//! Planes of pixel values, and rectangles in them.

/// A half-open rectangle in pixels of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) right: usize,
    pub(super) bottom: usize,
}

impl Area {
    pub(super) fn width(&self) -> usize {
        self.right - self.left
    }

    pub(super) fn height(&self) -> usize {
        self.bottom - self.top
    }

    pub(super) fn longest(&self) -> usize {
        self.width().max(self.height())
    }

    /// The smallest rectangle around both.
    pub(super) fn union(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// One value for each pixel, in row-major order.
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<f32>,
}
