#!/bin/sh
# Compiles a crate for the fuzz targets: cargo runs this instead of rustc, with rustc's path first. The crates that parse
# bytes from outside report which of their branches run (LLVM's SanitizerCoverage), and libFuzzer learns from that. All
# other crates are compiled as usual, because their branches would only add noise and time. So are the crates of build
# scripts and macros, which do not have libFuzzer: with `cargo build --target`, only the others get `--target`.
set -eu
rustc=$1
shift
case " $* " in *" --target "*) ;; *) exec "$rustc" "$@" ;; esac
case " $* " in
*" --crate-name akhar_"* | *" --crate-name httparse "* | *" --crate-name serde_json "* | \
    *" --crate-name toml"* | *" --crate-name image "* | *" --crate-name png "* | *" --crate-name fdeflate "* | \
    *" --crate-name zune_"* | *" --crate-name symphonia"*)
    exec "$rustc" "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
        -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1
    ;;
esac
exec "$rustc" "$@"
