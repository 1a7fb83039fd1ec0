//! The excerpts of code in pages are in the files that the pages name.

use std::fs;

use akhar_tests::root;

const BEGIN: &str = "<!-- excerpt: ";

#[test]
fn excerpts_of_code_are_in_their_files() {
    let page = "docs/src/how/tour.md";
    let text = fs::read_to_string(root().join(page)).expect("a page");
    let excerpts: Vec<&str> = text.split(BEGIN).skip(1).collect();
    assert!(!excerpts.is_empty(), "{page} has no excerpt");
    for excerpt in excerpts {
        let (file, rest) = excerpt.split_once(" -->\n```rust,ignore\n").expect("a comment above a block");
        let (code, _) = rest.split_once("```").expect("the end of a block");
        let source = fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(source.contains(code), "{page}: not in {file}:\n{code}");
    }
}
