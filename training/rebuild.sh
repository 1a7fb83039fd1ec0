#!/bin/sh
# Rebuilds and measures one model: ./rebuild.sh MODEL DATA, where MODEL is one of
# digits-pa|letters-pa|handwriting-pa|speech-pa|aligner-en|translation-pa-en|punctuation-pa-en
# Pools and checkpoints go to $AKHAR_TRAINING_DIR (default ../.cache/training).
set -eu
model=$1 data=$2
work=${AKHAR_TRAINING_DIR:-../.cache/training}/$model
export OMP_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=2000000000 MALLOC_TRIM_THRESHOLD_=8000000000
export MALLOC_TOP_PAD_=268435456
mkdir -p "$work/folds"
step() { name=$1; shift; python3 -m "recognition.$name" --model "$model" "$@"; }
pool() { step pool --data "$data" "$@"; }
train() { step train --data "$data" --pool "$work/pool" "$@"; }
twice() { # STEPS OUT [OPTION...]: then 900 steps more from a lower rate
    steps=$1 out=$2; shift 2
    train --steps "$steps" --out "$work/first.pt" "$@"
    train --init "$work/first.pt" --rate 1e-3 --steps 900 --seed 2 --out "$out" "$@"
}
temperature() { grep "^$1 " "$work/temperatures" | cut -d' ' -f2; }

case $model in
digits-pa)
    pool --out "$work/pool" --shards 10 --seed 1
    pool --out "$work/held" --shards 1 --seed 1001
    train --hold 4 --steps 3000 --out "$work/whole.pt"  # fold 4's letters stay unseen as non-digits
    step calibrate --checkpoint "$work/whole.pt" --shards "$work/held"/*.npz > "$work/temperatures"
    ;;
letters-pa)
    pool --out "$work/pool" --shards 10 --seed 1
    for fold in 0 1 2 4; do  # drawers 04, 09, 14, 19 (fold 3) are kept apart
        twice 3600 "$work/folds/$fold.pt" --hold "$fold"
    done
    twice 3600 "$work/whole.pt"
    step calibrate --folds "$work/folds" --data "$data" > "$work/temperatures"
    for fold in 0 1 2 4; do
        step export --checkpoint "$work/folds/$fold.pt" --temperature "$(temperature "$fold")" \
            --onnx "$work/folds/$fold.onnx"
    done
    ;;
handwriting-pa)
    python3 -m handwriting.train --data "$data" --models-dir ../models
    exec python3 -m handwriting.evaluate
    ;;
speech-pa) exec sh rebuild/speech-pa.sh "$data" "$work/.." ;;
aligner-en)
    sh rebuild/aligner-en.sh pa "$data" "$work/.."
    exec sh rebuild/aligner-en.sh en "$data" "$work/.."
    ;;
translation-pa-en)
    translate() { part=$1; shift; python3 -m "translation.$part" "$@"; }
    translate prepared --data "$data" --out "$work/pairs"
    translate tokeniser --data "$data" --pairs "$work/pairs" --out "$work/tokens"
    translate dictionary --data "$data" --pairs "$work/pairs" --out "$work/words.fst"
    # 568 s on one H200, measured with the program that made the shipped weights; about three days on two cores, estimated
    # from measured steps. Stopped and run again, it goes on.
    translate train --data "$data" --work "$work"
    translate export --checkpoint "$work/student.pt" --work "$work" --models-dir ../models
    translate evaluate --pairs "$work/pairs"
    exec python3 -m translation.golden --models-dir ../models --out ../tests/fixtures/seq2seq/bundled.json
    ;;
punctuation-pa-en)
    python3 -m translation.prepared --data "$data" --out "$work/pairs"
    set -- --data "$data" --pairs "$work/pairs"
    python3 -m punctuation.train "$@" --out "$work/punctuation.pt"
    python3 -m punctuation.export --checkpoint "$work/punctuation.pt" --models-dir ../models
    python3 -m punctuation.recognised "$@" --out "$work/recognised.json"
    exec python3 -m punctuation.evaluate "$@" --recognised "$work/recognised.json" --models-dir ../models
    ;;
*) sed -n 's/^# //; 2,3p' "$0" >&2; exit 2 ;;
esac
step export --checkpoint "$work/whole.pt" --temperature "$(temperature all)" --models-dir ../models
python3 -m recognition.evaluate --models "$model" --data "$data" --folds "$work/folds"
