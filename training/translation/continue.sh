#!/bin/sh
# Continues the translator's training from the shipped weights: translation/continue.sh DATA WORK [options of train]
# Run in `training`. Stopped and run again with the same WORK, it goes on from the last checkpoint there.
set -eu
data=$1 work=$2
shift 2
export OMP_NUM_THREADS=1
mkdir -p "$work"
[ -e "$work/pairs/train.tsv" ] || python3 -m translation.prepared --data "$data" --out "$work/pairs"
[ -e "$work/translation.pt" ] || python3 -m translation.resume --weights ../models/weights --out "$work"
exec python3 -m translation.train --data "$data" --pairs "$work/pairs" --tokens "$work/tokens" \
    --out "$work/translation.pt" --rivals 2000 "$@"
