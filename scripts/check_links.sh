#!/bin/sh
# Checks links without a network: files, pictures and anchors must exist. A link to this repository on its forge is
# looked up in the working tree; links to other places are not checked.
#   check_links.sh sources  every tracked Markdown file outside the book
#   check_links.sh book     every page of target/book, then the Rust documentation in target/book/rust
set -eu
cd "$(dirname "$0")/.."

check() { # ANCHORS LYCHEE'S ARGUMENTS
    anchors=$1
    shift
    .cache/links/bin/lychee --offline --include-fragments="$anchors" --no-progress --index-files index.html,. \
        --remap "^https://github\.com/akhar-project/akhar/(blob|tree)/main/(.*)\$ file://$PWD/\$2" "$@"
}

# The Rust documentation's anchors are rustdoc's own affair, which refuses a link to an item that does not exist.
# Excluded: two links in documentation that rustdoc copies from tracing's traits, and that only work there.
case "${1:-}" in
    sources) git ls-files '*.md' ':!docs/src' | check anchor-only --files-from - ;;
    book)
        check anchor-only --root-dir "$PWD/target/book" --exclude-path '/book/rust/' 'target/book/**/*.html'
        check none --exclude '/rust/.*/(dispatcher#setting-the-default-subscriber|crate#per-style)$' \
            'target/book/rust/**/*.html'
        ;;
    *) echo "check_links: expected sources or book" >&2; exit 2 ;;
esac
