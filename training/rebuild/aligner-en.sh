#!/bin/sh
# Synthesises the corpora and trains, for one language: sh rebuild/aligner-en.sh pa|en DATA WORK
# English, the network aligner-en, starts from the layers of a Panjabi network, which is not shipped; English is measured
# and shipped. Finished files are kept: an interrupted run continues.
set -eu
language=$1 data=$2 work=$3/aligner-$1 panjabi=$3/aligner-pa
run() { name=$1; shift; python3 -m "speech.$name" --language "$language" "$@"; }
case $language in
pa) steps=9400 ;;
en)
    steps=8150 some_steps=13750 later_steps=15430 rate=1.2e-3 last_steps=750 more_steps=540 string_steps=1200
    ;;
esac
mkdir -p "$work"

run data.corpus --data "$data" --kind words --hours 1.5 --seed 1 --out "$work/words"
run data.corpus --data "$data" --kind sentences --hours 10 --seed 2 --out "$work/sentences"
run data.corpus --data "$data" --kind sentences --engine flite --hours 1.5 --seed 5 --out "$work/flite"
run data.corpus --data "$data" --kind digits --hours 0.75 --seed 6 --out "$work/digits"
alone() { engine=$1 kind=$2; shift 2; run data.corpus --data "$data" --engine "$engine" --kind "$kind" "$@"; }
kokoro() { alone kokoro "$@" --shard-minutes 9 --hours 0.15; }
pairs() { alone pairs "$@" --copies 3 --shard-minutes 15 --hours 0.25; }
if [ "$language" = pa ]; then
    quarters() { run data.corpus --data "$data" --shard-minutes 15 "$@"; }
    quarters --kind sentences --engine cross-lingual --hours 3 --seed 11 --out "$work/cross-lingual"
    quarters --kind words --engine cross-lingual --hours 0.5 --seed 12 --out "$work/cross-lingual"
    quarters --kind digits --engine cross-lingual --hours 0.25 --seed 13 --out "$work/digits"
    quarters --kind sentences --engine pico --hours 1.5 --seed 14 --out "$work/pico"
else
    run data.corpus --data "$data" --kind sentences --engine pico --hours 3 --seed 11 --out "$work/pico"
    run data.corpus --data "$data" --kind words --engine pico --hours 0.5 --seed 12 --out "$work/pico"
    run data.corpus --data "$data" --kind digits --engine pico --hours 0.25 --shard-minutes 15 --seed 13 --out "$work/digits"
    run data.corpus --data "$data" --kind sentences --engine festival --hours 1.5 --seed 14 --out "$work/british"
    kokoro sentences --seed 33 --out "$work/kokoro"
    kokoro digits --seed 31 --out "$work/kokoro-digits"
    kokoro digits --seed 41 --out "$work/kokoro-digits"
    kokoro digits --seed 51 --out "$work/kokoro-digits"
    kokoro words --seed 52 --out "$work/kokoro-words"
    pairs digits --seed 62 --out "$work/pairs-digits"
    pairs sentences --seed 61 --out "$work/pairs"
    alone pairs sentences --hours 1.25 --shard-minutes 15 --seed 81 --out "$work/voices"
    alone pairs words --hours 0.25 --shard-minutes 15 --seed 82 --out "$work/voices-words"
    alone hibari digits --hours 0.5 --seed 21 --out "$work/hibari-digits"
    alone hibari sentences --hours 3 --seed 22 --out "$work/hibari"
    alone hibari words --hours 0.5 --seed 23 --out "$work/hibari"
    strings="$work/strings"
    run data.corpus --data "$data" --kind digits --hours 1.5 --seed 101 --out "$strings/digits"
    run data.corpus --data "$data" --kind sentences --hours 2.5 --seed 102 --out "$strings/sentences"
    run data.corpus --data "$data" --kind words --hours 0.5 --seed 103 --out "$strings/words"
    alone hibari digits --hours 0.5 --seed 104 --out "$strings/hibari-digits"
    alone hibari sentences --hours 1 --seed 105 --out "$strings/hibari"
    pairs sentences --seed 106 --out "$strings/pairs"
fi
[ -d "$work/sounds" ] || python3 -m speech.data.nonspeech --hours 0.5 --out "$work/sounds"
held() { [ -d "$work/$1" ] || run data.held --data "$data" --part "$1" --out "$work/$1"; }
held dev
train() { run network.train --muon --frames 9000 --dev "$work/dev/clean" --shards $plain "$@"; }
plain="$work/sentences=3 $work/sounds=0.2"
if [ "$language" = pa ]; then
    plain="$plain $work/words=1 $work/digits=0.8 $work/flite=0.6 $work/cross-lingual=1 $work/pico=0.7"
    train --steps $steps --out "$work/stable.pt"
    exit
fi

held test
[ -d "$work/real" ] || run data.real --data "$data" --out "$work/real"
# AKHAR_PROMPTS_DIR: where Debian's asterisk-core-sounds-en and -en-g722 are installed or unpacked
[ -d "$work/allison" ] || python3 -m speech.data.prompts --sounds "${AKHAR_PROMPTS_DIR:-/}" --out "$work/allison"

# The learning rate is constant at first, then falls to a third, then to nearly nothing. The last fall uses the recordings
# of people. The network is a mean: of one trained on some of Kokoro and one trained on more of it.
plain="$plain $work/words=1 $work/digits=0.8 $work/flite=1 $work/british=0.7 $work/pico=1.3 $work/allison=0.3"
some="$work/kokoro=1.8 $work/kokoro-words=0.6 $work/kokoro-digits=1.2 $work/hibari=2.5 $work/hibari-digits=0.6"
more="$work/kokoro=0.4 $work/kokoro-words=0.3 $work/kokoro-digits=0.8 $work/hibari=2 $work/hibari-digits=0.5"
more="$more $work/pairs=0.8 $work/pairs-digits=0.5 $work/voices=4 $work/voices-words=0.8"
[ -f "$panjabi/stable.pt" ] || { echo "$0 pa comes first" >&2; exit 1; }
train --transfer "$panjabi/stable.pt" --steps $steps --out "$work/stable.pt"
train $some --init "$work/stable.pt" --steps $some_steps --out "$work/later.pt"
train $some --init "$work/later.pt" --decay-steps 700 --last 0.3 --out "$work/falling.pt"
train $some --steps $later_steps --out "$work/later.pt"
train $more --init "$work/later.pt" --decay-steps 550 --last 0.3 --out "$work/falling-more.pt"
people=""
for folder in "$work"/real/*; do people="$people $folder=1.25"; done
train $some $people --init "$work/falling.pt" --lr $rate --decay-steps $last_steps --out "$work/some.pt"
train $more $people --init "$work/falling-more.pt" --lr $rate --decay-steps $more_steps --out "$work/more.pt"
python3 -m speech.network.average --out "$work/mean.pt" --of "$work/some.pt=1" "$work/more.pt=1"
# The network learnt "oh", "double" and "triple" last, from the file that was shipped before.
run network.export --checkpoint "$work/mean.pt" --out "$work/mean"
plain="$strings/digits=2.5 $strings/hibari-digits=0.7 $strings/sentences=5 $strings/words=1 $strings/hibari=2"
plain="$plain $strings/pairs=1.5 $work/allison=0.5 $work/sounds=0.25"
people=""
for folder in "$work"/real/*; do people="$people $folder=0.5"; done
train $people --init "$work/mean/model.half.onnx" --lr 1e-3 --decay-steps $string_steps --out "$work/final.pt"
run network.export --checkpoint "$work/final.pt" --out "$work/model"
python3 -m speech.ship aligner-en --export "$work/model" --dev "$work/dev/clean" --models-dir ../models
python3 -m speech.measure.evaluate --models-dir ../models --held "$work/test"
# speech-en's words get their times from this network.
exec python3 -m speech.measure.served --language en --data "$data" --program "${AKHAR:-../target/release/akhar}" \
    --held "$work/test"
