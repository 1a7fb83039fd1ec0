#!/bin/sh
# Installs what is needed on a Debian machine that has cargo, cc and python3. Skips what is already installed.
#   setup.sh run     for `make run`: the Postgres server, ONNX Runtime's library and weights
#   setup.sh library ONNX Runtime's library only
#   setup.sh weights the weights that are not in git, which are those of speech-en
#   setup.sh test    for `make test`: the same as run, schemathesis and curl
#   setup.sh chaos   for `make chaos`: the same as run, and a library that moves a process's clock
#   setup.sh fuzz    for `make fuzz`: a C++ compiler
#   setup.sh python  for checks of the Python code: ruff, mypy and pytest, in .cache/check
#   setup.sh check   for `make check`: the same as python, weights, the link checker, cargo-deny and cargo-machete
#   setup.sh docs    for `make docs`: mdBook and the link checker
set -eu
cd "$(dirname "$0")/.."
cache=.cache

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

need() { # COMMAND, how to install it
    command -v "$1" >/dev/null 2>&1 || die "$1 not found: $2"
}

# Installs Debian packages, as root or with sudo.
install() {
    say "installing Debian packages: $*"
    command -v apt-get >/dev/null 2>&1 || die "apt-get not found: install these packages yourself: $*"
    if [ "$(id -u)" = 0 ]; then as_root=; else
        command -v sudo >/dev/null 2>&1 || die "cannot install packages: this user is not root, and sudo was not found. As root, run: apt-get install $*"
        as_root=sudo
    fi
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq
    $as_root apt-get install -y -qq --no-install-recommends "$@" >&2
}

postgres() {
    for initdb in /usr/lib/postgresql/*/bin/initdb $(command -v initdb || true); do
        [ -x "$initdb" ] && return
    done
    install postgresql
}

pip() {
    python3 -m pip --version >/dev/null 2>&1 || install python3-pip python3-venv
}

onnxruntime() {
    version=$(sed -n 's/^onnxruntime==\([0-9.]*\).*/\1/p' scripts/onnxruntime.txt)
    [ "$(cat $cache/onnxruntime/version 2>/dev/null)" = "$version" ] && return
    pip
    say "fetching ONNX Runtime $version"
    rm -rf $cache/onnxruntime.draft
    mkdir -p $cache/onnxruntime.draft
    machine=$(uname -m)
    # The wheel is for one fixed version of Python, because only the library inside is used.
    python3 -m pip download --quiet --no-deps --require-hashes --only-binary=:all: \
        --python-version 3.12 --implementation cp --abi cp312 \
        --platform "manylinux_2_28_$machine" --platform "manylinux_2_27_$machine" \
        --dest $cache/onnxruntime.draft -r scripts/onnxruntime.txt
    python3 - "$cache/onnxruntime.draft" "$version" <<'PYTHON'
import glob, sys, zipfile
folder, version = sys.argv[1:]
(wheel,) = glob.glob(f"{folder}/*.whl")
with zipfile.ZipFile(wheel) as files, open(f"{folder}/libonnxruntime.so", "wb") as library:
    library.write(files.read(f"onnxruntime/capi/libonnxruntime.so.{version}"))
PYTHON
    rm $cache/onnxruntime.draft/*.whl
    echo "$version" >$cache/onnxruntime.draft/version
    rm -rf $cache/onnxruntime
    mv $cache/onnxruntime.draft $cache/onnxruntime
}

weights() {
    name=moonshine-tiny-en
    cmp -s scripts/moonshine.txt models/fetched/$name/requirements.txt && return
    pip
    say "fetching the weights of speech-en ($name)"
    rm -rf $cache/$name
    mkdir -p $cache/$name models/fetched
    # One fixed wheel, whatever Python is here: only the weights inside are used.
    python3 -m pip download --quiet --no-deps --require-hashes --only-binary=:all: --python-version 3.12 \
        --platform "manylinux_2_34_$(uname -m)" --dest $cache/$name -r scripts/moonshine.txt
    python3 - $cache/$name <<'PYTHON'
import glob, sys, zipfile
(wheel,) = glob.glob(f"{sys.argv[1]}/*.whl")
with zipfile.ZipFile(wheel) as files:
    for name in ["encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin"]:
        with open(f"{sys.argv[1]}/{name}", "wb") as file:
            file.write(files.read(f"moonshine_voice/assets/tiny-en/{name}"))
PYTHON
    rm $cache/$name/*.whl
    cp scripts/moonshine.txt $cache/$name/requirements.txt
    rm -rf models/fetched/$name
    mv $cache/$name models/fetched/$name
}

environment() { # NAME REQUIREMENTS: creates a Python environment in .cache/NAME, again whenever REQUIREMENTS changes
    cmp -s "$2" "$cache/$1/requirements.txt" && return
    pip
    say "installing $2 into $cache/$1"
    rm -rf "${cache:?}/$1"
    python3 -m venv "$cache/$1" || { install python3-venv; python3 -m venv "$cache/$1"; }
    "$cache/$1/bin/pip" install --quiet --disable-pip-version-check -r "$2"
    cp "$2" "$cache/$1/requirements.txt"
}
schemathesis() { environment schemathesis tests/requirements.txt; }
clock_library() {
    for library in /usr/lib/*/faketime/libfaketime.so.1; do
        [ -e "$library" ] && return
    done
    (install libfaketime) || say "libfaketime is not installed: make chaos will move no clock"
}
cplusplus() { command -v c++ >/dev/null 2>&1 || install g++; }
python_checks() { environment check training/requirements-check.txt; }
curl_command() { command -v curl >/dev/null 2>&1 || install curl; }
link_checker() { environment links docs/requirements.txt; }

tool() { # NAME VERSION [OPTIONS OF CARGO INSTALL]
    crate="$1@$2"
    cargo install --list | grep --quiet "^$1 v$2:" && return
    shift 2
    say "building $crate (this takes some minutes, once)"
    cargo install --locked --quiet "$crate" "$@"
}

need cargo "install Rust from https://rustup.rs"
need cc "install a C compiler: apt-get install gcc libc6-dev"
need python3 "install it (needed to unpack ONNX Runtime and weights): apt-get install python3"
case "${1:-run}" in
    run) postgres; onnxruntime; weights ;;
    library) onnxruntime ;;
    weights) weights ;;
    test) postgres; onnxruntime; weights; schemathesis; curl_command ;;
    chaos) postgres; onnxruntime; weights; clock_library ;;
    fuzz) cplusplus ;;
    python) python_checks ;;
    check) python_checks; link_checker; weights; tool cargo-deny 0.20.2; tool cargo-machete 0.9.2 ;;
    docs) link_checker; tool mdbook 0.5.4 --debug --no-default-features --features search ;;
    *) die "expected run, library, weights, test, chaos, fuzz, python, check or docs, got $1" ;;
esac
