#!/bin/sh
# Installs the programs that `make bench` measures Akhar against, under .cache/peers: LitServe and BentoML in a Python
# environment (3.11 or newer), graphile-worker beside a Node.js of its own, and a program around graphile_worker in
# Rust. Does only what is not done yet.
#   setup.sh            all
#   setup.sh node rust  those of akhar-bench queue
set -eu
cd "$(dirname "$0")/../.."
here=bench/peers
cache=.cache/peers

say() { printf 'peers: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

python() {
    cmp -s $here/requirements.txt $cache/python/requirements.txt && return
    say "installing LitServe and BentoML"
    rm -rf $cache/python
    python3 -m venv $cache/python || die "python3 -m venv failed: apt-get install python3-venv"
    $cache/python/bin/pip install --quiet --disable-pip-version-check --requirement $here/requirements.txt
    cp $here/requirements.txt $cache/python/requirements.txt
}

node() {
    cmp -s $here/package-lock.json $cache/node/installed.json && return
    command -v npm >/dev/null 2>&1 || die "npm not found: apt-get install npm"
    say "installing graphile-worker"
    rm -rf $cache/node
    mkdir -p $cache/node
    cp $here/package.json $here/package-lock.json $cache/node/
    # They want a newer Node.js than Debian's; npm brings it as a package and need not run on it itself.
    (cd $cache/node && npm ci --silent --no-audit --no-fund --ignore-scripts)
    ln -s "node_modules/$(ls $cache/node/node_modules | grep '^node-linux-')/bin/node" $cache/node/node
    cp $here/package-lock.json $cache/node/installed.json
}

rust() {
    cargo build --quiet --release --locked --manifest-path $here/graphile_worker/Cargo.toml --target-dir $cache/rust
}

for part in ${*:-python node rust}; do $part; done
