#!/bin/sh
# Reads a number from a paper form: read_number.sh PICTURE…
# There is one picture for each box, and in each box one Panjabi digit. A digit that is probably not read right becomes "?".
# The environment has AKHAR_KEY, and AKHAR_URL unless the service is on this machine.
set -eu

for picture in "$@"; do
    answer=$(curl --silent --show-error --fail-with-body --retry 3 \
        --header "Authorization: Bearer $AKHAR_KEY" --form "file=@$picture" --form top-k=1 \
        "${AKHAR_URL:-http://127.0.0.1:8080}/v1/models/digit-recognition")
    printf '%s\n' "$answer" |
        sed 's/.*"label":"\([^"]*\)","score":\([0-9.e-]*\).*/\1 \2/' |
        awk '{ printf "%s", $2 < 0.9 ? "?" : $1 }'
done
echo
