//! The same picture is recognised as the same character in every kind of PNG and JPEG file.

use akhar_tests::{
    Stack,
    images::{MAX_BYTES, fixture_of, plain, png, ways_to_store, with_orientations},
};

use crate::operations;

#[tokio::test]
async fn depth_colours_and_transparency_do_not_change_the_character() {
    let stack = Stack::start().await;
    for image in operations() {
        for (way, file) in ways_to_store(&plain(&image)) {
            assert!(file.len() <= MAX_BYTES, "{way}: {} bytes", file.len());
            let predictions = stack.recognise(image.operation, &file).await.predictions();
            assert_eq!(predictions[0].0, image.label, "{way}: {predictions:?}");
        }
    }
}

#[tokio::test]
async fn a_picture_s_orientation_tag_is_applied() {
    let stack = Stack::start().await;
    // Upside down or mirrored, these two digits look like other digits or like none.
    for label in ["੫", "੨"] {
        let image = fixture_of(label);
        let grey = plain(&image);
        let upright = stack.recognise(image.operation, &png(&grey.clone().into())).await.predictions();
        assert_eq!(upright[0].0, label);
        for (way, file) in with_orientations(&grey) {
            let predictions = stack.recognise(image.operation, &file).await.predictions();
            if way.starts_with("PNG") {
                assert_eq!(predictions, upright, "{way}"); // the pixels are identical
            }
            assert_eq!(predictions[0].0, label, "{way}: {predictions:?}");
        }
    }
}
