#!/bin/sh
# Adds to the book in target/book what programs read: each page as Markdown, the OpenAPI document, and llms.txt, which lists
# them (https://llmstxt.org).
set -eu
cd "$(dirname "$0")/.."
book=$PWD/target/book

cp docs/openapi.json "$book"
(cd docs/src && find . -name '*.md' ! -name SUMMARY.md -exec cp --parents {} "$book" \;)
{
    printf '# Akhar\n\n> %s\n' "$(sed -n 's/^description = "\(.*\)"$/\1/p' docs/book.toml)"
    printf '\n- [OpenAPI document](openapi.json)\n'
    # The chapters of the book are the sections of the list, and a page that stands alone is an item of it.
    sed -e '/^# Summary$/d' -e 's/^# /## /' -e 's/^\[/- [/' -e 's/^  *- /- /' docs/src/SUMMARY.md
} | cat -s >"$book/llms.txt"

sed -n 's/^- \[.*](\(.*\))$/\1/p' "$book/llms.txt" | while read -r page; do
    [ -f "$book/$page" ] || { echo "llms.sh: llms.txt names $page, which is not in the book" >&2; exit 1; }
done
