#!/bin/sh
# Rebuilds one model: ./rebuild.sh digits-pa|letters-pa DATA [FEATURES_COMMAND]
# Pools, checkpoints and sheets go to $AKHAR_TRAINING_DIR (default ../../.cache/training).
set -eu
model=$1 data=$2 features=${3:-akhar models features --stream}
work=${AKHAR_TRAINING_DIR:-../../.cache/training}/$model
export OMP_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=2000000000 MALLOC_TRIM_THRESHOLD_=8000000000
mkdir -p "$work/pool" "$work/held" "$work/folds"
step() { name=$1; shift; python3 -m "recognition.$name" --model "$model" "$@"; }
pool() { step pool --data "$data" --features-command "$features" "$@"; }
temperature() { grep "^$1 " "$work/temperatures" | cut -d' ' -f2; }

case $model in
digits-pa)
    pool --out "$work/pool" --shards 18 --seed 1 --producers 2
    pool --out "$work/pool" --shards 1 --seed 31 --nothings 0.6
    pool --out "$work/held" --shards 1 --seed 1001
    step train --pool "$work/pool" --steps 6000 --out "$work/whole.pt"
    step calibrate --checkpoint "$work/whole.pt" --shards "$work/held"/*.npz > "$work/temperatures"
    ;;
letters-pa)
    pool --out "$work/pool" --shards 14 --seed 1 --producers 2
    pool --out "$work/pool" --shards 14 --seed 21 --recipe hands --producers 2
    pool --out "$work/held" --shards 2 --seed 1001 --recipe hands
    for fold in 0 1 2 4; do  # drawers 04, 09, 14, 19 (fold 3) are kept apart
        step train --pool "$work/pool" --steps 8000 --hold "$fold" --out "$work/folds/$fold.pt"
    done
    step train --pool "$work/pool" --steps 8000 --out "$work/whole.pt"
    step calibrate --folds "$work/folds" --shards "$work/held"/*.npz > "$work/temperatures"
    for fold in 0 1 2 4; do
        step export --checkpoint "$work/folds/$fold.pt" --temperature "$(temperature "$fold")" \
            --onnx "$work/folds/$fold.onnx"
    done
    ;;
*) echo "usage: $0 digits-pa|letters-pa DATA [FEATURES_COMMAND]" >&2; exit 2 ;;
esac
step export --checkpoint "$work/whole.pt" --temperature "$(temperature all)" --models-dir ..
python3 -m recognition.evaluate --models "$model" --data "$data" --folds "$work/folds" \
    --features-command "$features" --sheets "$work/sheets"
