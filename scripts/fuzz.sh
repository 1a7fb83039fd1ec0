#!/bin/sh
# Builds the fuzz targets and runs them, two at a time: fuzz.sh SECONDS [TARGET]. `containers` are the targets of all
# formats of recordings. With RUNS, each target ends after so many inputs, if its time is not over before.
# Prints a line for each target. Ends with 1 if a target found a defect, hung, or used too much memory; the inputs are
# then under target/fuzz/found. The seeds are in tests/fuzz/corpus and tests/fixtures; what a run adds goes to
# target/fuzz/corpus.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
only=${2:-}
build_limit_s=${FUZZ_BUILD_LIMIT_S:-1800}
memory_mb=2048
work=target/fuzz
containers="wav mp3 flac ogg mp4 webm"
targets="headers json multipart handwriting_form handwriting catalogue manifest tokenizer_bin tokenizer_text vocab picture $containers"

say() { printf 'fuzz: %s\n' "$*" >&2; }

host=$(rustc -vV | sed -n 's/^host: //p')
program=$work/build/$host/debug/akhar-fuzz

seeds() { # TARGET: copies its seeds into a folder of their own
    rm -rf "$work/seeds/$1"
    mkdir -p "$work/seeds/$1"
    if [ -d "tests/fuzz/corpus/$1" ]; then cp "tests/fuzz/corpus/$1/"* "$work/seeds/$1"; fi
    case $1 in
    wav | mp3 | flac | ogg | webm) find tests/fixtures/audio -name "*.$1" -size -64k ;;
    mp4) find tests/fixtures/audio -name '*.mp4' -o -name '*.m4a' ;;
    picture) find tests/fixtures/images -name '*.png' -o -name '*.jpg' ;;
    manifest) find models -maxdepth 1 -name '*-*.toml' ;;
    catalogue) echo models/catalogue.toml ;;
    tokenizer_bin) echo tests/fixtures/moonshine/tokenizer.bin ;;
    esac | xargs -r -I{} cp {} "$work/seeds/$1"
}

run() { # TARGET
    seeds "$1"
    mkdir -p "$work/corpus/$1" "$work/found"
    status=0
    # libFuzzer keeps to the time by itself. The outer limit holds even if it does not.
    TARGET=$1 timeout --kill-after=5 "$((seconds + 90))" "$program" "$work/corpus/$1" "$work/seeds/$1" \
        -seed=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=$memory_mb -max_len=20480 -runs="${RUNS:--1}" \
        -print_final_stats=1 -artifact_prefix="$work/found/$1-" >"$work/$1.log" 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$1.log")
    inputs=$(find "$work/corpus/$1" "$work/seeds/$1" -type f | wc -l)
    printf '%-18s %10s executions %6s inputs %5s s' "$1" "${runs:-no}" "$inputs" "$seconds"
    if [ "$status" = 0 ]; then
        printf '\n'
        return
    fi
    printf '  FOUND\n'
    say "$1 ended with $status; the end of $work/$1.log:"
    tail -n 25 "$work/$1.log" >&2
    return 1
}

if [ "${FUZZ_ONE:-}" ]; then # started by xargs below
    run "$FUZZ_ONE"
    exit
fi
case $seconds in '' | *[!0-9]*) say "SECONDS is '$seconds', expected a whole number"; exit 2 ;; esac
case $only in '') only=$targets ;; containers) only=$containers ;; esac
case " $targets " in
*" $only "*) ;;
*) say "TARGET is '$only', expected one of: $targets containers"; exit 2 ;;
esac
mkdir -p $work
status=0
RUSTC_WRAPPER=$PWD/tests/fuzz/instrument.sh timeout "$build_limit_s" \
    cargo build --quiet --locked --manifest-path tests/fuzz/Cargo.toml --target-dir $work/build --target "$host" || status=$?
if [ "$status" = 124 ]; then say "the build was stopped: it took longer than $build_limit_s s (FUZZ_BUILD_LIMIT_S)"; fi
if [ "$status" != 0 ]; then exit 1; fi
rm -rf $work/found
# shellcheck disable=SC2086
printf '%s\n' $only | xargs -P 2 -I{} env FUZZ_ONE={} sh scripts/fuzz.sh "$seconds" || {
    say "found defects: the inputs are in $work/found; repeat one with TARGET=name $program FILE"
    exit 1
}
