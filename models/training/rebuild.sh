#!/bin/sh
# Rebuilds one model: ./rebuild.sh digits-pa|letters-pa DATA [FEATURES_COMMAND]
# The pool, checkpoints and reports go to $AKHAR_TRAINING_DIR (default ../../.cache/training).
set -eu
model=$1 data=$2 features=${3:-akhar models features --stream}
work=${AKHAR_TRAINING_DIR:-../../.cache/training}/$model
export OMP_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=2000000000 MALLOC_TRIM_THRESHOLD_=8000000000
case $model in
    digits-pa) shards=14 steps=6000 folds= ;;
    letters-pa) shards=16 steps=8000 folds="0 1 2 4" ;;  # drawers 04, 09, 14, 19 (fold 3) are kept apart
    *) echo "usage: $0 digits-pa|letters-pa DATA [FEATURES_COMMAND]" >&2; exit 2 ;;
esac
mkdir -p "$work/pool" "$work/held"
step() { name=$1; shift; python3 -m "recognition.$name" --model "$model" "$@"; }

step pool --data "$data" --out "$work/pool" --shards "$shards" --seed 1 --producers 2 --features-command "$features"
step pool --data "$data" --out "$work/held" --shards 1 --seed 1001 --features-command "$features"
step train --pool "$work/pool" --steps "$steps" --out "$work/whole.pt"
reports=
for fold in $folds; do
    step train --pool "$work/pool" --steps "$steps" --hold "$fold" --out "$work/fold$fold.pt"
    t=$(step calibrate --checkpoint "$work/fold$fold.pt" --shards "$work/held"/*.npz --fold "$fold" | cut -d' ' -f1)
    step export --checkpoint "$work/fold$fold.pt" --models-dir "$work/fold$fold" --temperature "$t"
    step evaluate --data "$data" --onnx "$work/fold$fold/weights/$model.onnx" --fold "$fold" \
        --features-command "$features" --sheet "$work/errors$fold.png" --out "$work/fold$fold.json"
    reports="$reports $work/fold$fold.json"
done
# The held shard is generated; the digits kept for evaluation play no part in the temperature.
t=${t:-$(step calibrate --checkpoint "$work/whole.pt" --shards "$work/held"/*.npz | cut -d' ' -f1)}
step export --checkpoint "$work/whole.pt" --models-dir "$work" --temperature "$t"
step evaluate --data "$data" --onnx "$work/weights/$model.onnx" --features-command "$features" \
    --sheet "$work/errors.png" --out "$work/whole.json"
step card --whole "$work/whole.json" ${reports:+--folds $reports} --notes "notes/$model.md" \
    --card "../cards/$model.md" --metrics "$work/metrics.json"
step export --checkpoint "$work/whole.pt" --models-dir .. --temperature "$t" --metrics "$work/metrics.json"
