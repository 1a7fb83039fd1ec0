#!/bin/sh
# Runs `akhar-chaos chaos` with these arguments. Root gets a small disk for Postgres (a tmpfs that only this run sees), so
# that the disk can be filled.
set -eu
cd "$(dirname "$0")/.."
program=${AKHAR_CHAOS:-target/release/akhar-chaos}
folder=$(mktemp -d)
chmod 755 "$folder"
trap 'rmdir "$folder"' EXIT
if [ "$(id -u)" = 0 ] && unshare --mount mount -t tmpfs akhar-chaos "$folder" 2>/dev/null; then
    # shellcheck disable=SC2016
    unshare --mount sh -c '
        mount -t tmpfs -o size=1g,mode=1777 akhar-chaos "$1" || exit
        TMPDIR=$1
        export TMPDIR
        shift
        exec "$@"' chaos "$folder" "$program" chaos "$@"
else
    "$program" chaos "$@"
fi
