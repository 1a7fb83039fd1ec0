#!/bin/sh
# Looks at the playground of a running server in Chromium. `scripts/setup.sh test` installs what it needs.
#   BASE=http://127.0.0.1:8080 KEY=ak_… scripts/playground.sh measure          prints sizes and times
#   BASE=http://127.0.0.1:8080 KEY=ak_… scripts/playground.sh pictures FOLDER  takes pictures of all panels
set -eu
cd "$(dirname "$0")/.."
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
cp tests/node/*.ts "$programs"
ln -s "$PWD/.cache/node/node_modules" "$programs/node_modules"
case "${1:-}" in
    measure) set -- measure ;;
    pictures) mkdir -p "${2:?say which folder}" && set -- pictures "$(cd "$2" && pwd)" ;;
    *) echo "playground: expected measure or pictures" >&2; exit 2 ;;
esac
NO_PROXY=127.0.0.1 .cache/node/bin/node "$programs/playground.ts" "$PWD/tests/fixtures" "$@"
