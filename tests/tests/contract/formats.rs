//! One picture in every way PNG and JPEG can store it is read as the same character.

use akhar_tests::{
    Stack,
    images::{MAX_BYTES, fixture_of, plain, png, turned, ways_to_store},
};

use crate::operations;

#[tokio::test]
async fn depth_colours_and_transparency_do_not_matter() {
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
async fn a_picture_is_read_the_way_its_orientation_tag_says() {
    let stack = Stack::start().await;
    // Upside down and mirrored these are other digits, or none.
    for label in ["੫", "੨"] {
        let image = fixture_of(label);
        let grey = plain(&image);
        let upright = stack.recognise(image.operation, &png(&grey.clone().into())).await.predictions();
        assert_eq!(upright[0].0, label);
        for (way, file) in turned(&grey) {
            let predictions = stack.recognise(image.operation, &file).await.predictions();
            if way.starts_with("PNG") {
                assert_eq!(predictions, upright, "{way}"); // the very same pixels
            }
            assert_eq!(predictions[0].0, label, "{way}: {predictions:?}");
        }
    }
}
