#!/bin/sh
# Checks links without network access: the files, pictures and anchors that they name must exist. A link to this
# repository on its forge is checked in the working tree. Links to other sites are not checked.
#   check_links.sh sources  all tracked Markdown files outside the book
#   check_links.sh book     all pages of target/book, then the Rust documentation in target/book/rust
set -eu
cd "$(dirname "$0")/.."

check() { # ANCHORS LYCHEE'S ARGUMENTS
    anchors=$1
    shift
    .cache/links/bin/lychee --offline --include-fragments="$anchors" --no-progress --index-files index.html,. \
        --remap "^https://github\.com/akhar-project/akhar/(blob|tree)/main/(.*)\$ file://$PWD/\$2" "$@"
}

# Anchors in the Rust documentation are not checked here, because rustdoc refuses a link to an item that does not exist.
# Three links are excluded: rustdoc copies them from the documentation of tracing's and OpenTelemetry's traits, which
# every type has, and they work only there.
case "${1:-}" in
    sources) git ls-files '*.md' ':!docs/src' | check anchor-only --files-from - ;;
    book)
        check anchor-only --root-dir "$PWD/target/book" --exclude-path '/book/rust/' 'target/book/**/*.html'
        check none --exclude '/rust/.*/(dispatcher#setting-the-default-subscriber|crate#per-style|Context)$' \
            'target/book/rust/**/*.html'
        ;;
    *) echo "check_links: expected sources or book" >&2; exit 2 ;;
esac
