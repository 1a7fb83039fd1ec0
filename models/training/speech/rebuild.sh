#!/bin/sh
# Speaks the corpora, trains, measures and ships one language: sh speech/rebuild.sh pa|en DATA WORK
# English starts on what Panjabi has learnt. What is there is kept: a run that was stopped goes on.
set -eu
language=$1 data=$2 work=$3/speech-$1 panjabi=$3/speech-pa
run() { name=$1; shift; python3 -m "speech.$name" --language "$language" "$@"; }
case $language in
pa) steps=9400 rate=6e-4 last_steps=450 weight=0.8 other=1.2 threshold=0.1 folds="F04 M01" ;;
en) steps=8150 rate=1.2e-3 last_steps=750 weight=1.25 other=2 threshold=0.3 folds="george+jackson lucas+nicolas" ;;
esac
mkdir -p "$work"

run corpus --data "$data" --kind words --hours 1.5 --seed 1 --out "$work/words"
run corpus --data "$data" --kind sentences --hours 10 --seed 2 --out "$work/sentences"
run corpus --data "$data" --kind sentences --engine flite --hours 1.5 --seed 5 --out "$work/flite"
run corpus --data "$data" --kind digits --hours 0.75 --seed 6 --out "$work/digits"
alone() { engine=$1 kind=$2; shift 2; run corpus --data "$data" --engine "$engine" --kind "$kind" "$@"; }
kokoro() { alone kokoro "$@" --shard-minutes 9 --hours 0.15; }
if [ "$language" = pa ]; then
    quarters() { run corpus --data "$data" --shard-minutes 15 "$@"; }
    quarters --kind sentences --engine abroad --hours 3 --seed 11 --out "$work/abroad"
    quarters --kind words --engine abroad --hours 0.5 --seed 12 --out "$work/abroad"
    quarters --kind digits --engine abroad --hours 0.25 --seed 13 --out "$work/digits"
    quarters --kind sentences --engine pico --hours 1.5 --seed 14 --out "$work/pico"
    kokoro sentences --seed 32 --out "$work/kokoro"
    kokoro digits --seed 34 --out "$work/kokoro-digits"
else
    run corpus --data "$data" --kind sentences --engine pico --hours 3 --seed 11 --out "$work/pico"
    run corpus --data "$data" --kind words --engine pico --hours 0.5 --seed 12 --out "$work/pico"
    run corpus --data "$data" --kind digits --engine pico --hours 0.25 --shard-minutes 15 --seed 13 --out "$work/digits"
    run corpus --data "$data" --kind sentences --engine festival --hours 1.5 --seed 14 --out "$work/british"
    kokoro sentences --seed 33 --out "$work/kokoro"
    kokoro digits --seed 31 --out "$work/kokoro-digits"
    kokoro digits --seed 41 --out "$work/kokoro-digits"
    kokoro digits --seed 51 --out "$work/kokoro-digits"
    kokoro words --seed 52 --out "$work/kokoro-words"
    alone hibari digits --hours 0.5 --seed 21 --out "$work/hibari-digits"
    alone hibari sentences --hours 3 --seed 22 --out "$work/hibari"
    alone hibari words --hours 0.5 --seed 23 --out "$work/hibari"
fi
[ -d "$work/sounds" ] || python3 -m speech.sounds --hours 0.5 --out "$work/sounds"
for part in dev test; do
    [ -d "$work/$part" ] || run held --data "$data" --part $part --out "$work/$part"
done
[ -d "$work/real" ] || run real --data "$data" --out "$work/real"
# Debian's asterisk-core-sounds-en and -en-g722, installed or unpacked
if [ "$language" = en ] && [ ! -d "$work/allison" ]; then
    python3 -m speech.prompts --sounds "${AKHAR_PROMPTS_DIR:-/}" --out "$work/allison"
fi
[ -f "$work/lm" ] || run ngram --data "$data" --threshold $threshold --out "$work/lm"

# At one rate; then at one that falls to a third; from there to nothing, with all people for the model that is shipped,
# and for each fold with those whom it may hear, so that who reads a speaker's digits has never heard that speaker.
# Panjabi takes the mean of this and of one that fell before it had heard a natural voice.
plain="$work/sentences=3"
natural="$work/sounds=0.2"
case $language in
pa)
    plain="$plain $work/words=0.7 $work/digits=0.6 $work/flite=0.7 $work/abroad=1.2 $work/pico=0.8"
    natural="$natural $work/kokoro=2.5 $work/kokoro-digits=0.5"
    ;;
en)
    plain="$plain $work/words=1 $work/digits=0.8 $work/flite=1 $work/british=0.8 $work/pico=1.4 $work/allison=0.3"
    natural="$natural $work/kokoro=1.8 $work/kokoro-words=0.6 $work/kokoro-digits=1.2"
    natural="$natural $work/hibari=2.5 $work/hibari-digits=0.6"
    ;;
esac
train() { run train --muon --frames 9000 --dev "$work/dev/clean" --shards $plain "$@"; }
network() { # NAME TARGET STEPS_OF_THE_FIRST PEOPLE...
    kept=$1 target=$2 first_steps=$3; shift 3  # not `name`: run has that
    train $natural "$@" --init "$work/falling.pt" --lr $rate --decay-steps $last_steps --out "$work/$kept.pt"
    if [ "$language" = pa ]; then
        train "$@" --init "$work/stable.pt" --decay-steps "$first_steps" --out "$work/first-$kept.pt"
        python3 -m speech.average --out "$work/mean-$kept.pt" "$work/first-$kept.pt=1" "$work/$kept.pt=2"
        kept=mean-$kept
    fi
    run export --checkpoint "$work/$kept.pt" --out "$target"
}
if [ "$language" = pa ]; then
    train --steps $steps --out "$work/stable.pt"
else
    [ -f "$panjabi/stable.pt" ] || { echo "rebuild speech-pa first" >&2; exit 1; }
    train --transfer "$panjabi/stable.pt" --steps $steps --out "$work/stable.pt"
    train $natural --steps $((steps + 5600)) --out "$work/stable.pt"
fi
train $natural --init "$work/stable.pt" --decay-steps 700 --last 0.3 --out "$work/falling.pt"
people=""
for folder in "$work"/real/*; do people="$people $folder=$weight"; done
network final "$work/model" 1000 $people
for fold in $folds; do
    others=""
    for folder in "$work"/real/*; do
        case +$fold+ in *+"${folder##*/}"+*) ;; *) others="$others $folder=$other" ;; esac
    done
    network "$fold" "$work/folds/$fold" 420 $others
done

run ship --model "$work/model" --lm "$work/lm" --dev "$work/dev/clean" --models-dir ..
readings=""
if [ "$language" = en ]; then readings=--readings; fi
run evaluate --models-dir .. --data "$data" --held "$work/test" --folds "$work/folds" $readings \
    --json "notes/speech-$language.json"
run card --models-dir ..
