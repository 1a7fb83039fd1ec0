//! Uploads come in as bytes; what a model can look at comes out, or why it cannot.

#[cfg_attr(not(test), expect(dead_code, reason = "the pipeline does not hear yet"))]
pub(crate) mod audio;
pub(crate) mod image;
