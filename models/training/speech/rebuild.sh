#!/bin/sh
# Speaks the corpora, trains, measures and ships one language: sh speech/rebuild.sh pa|en DATA WORK
# English starts on what Panjabi has learnt. What is there is kept: a run that was stopped goes on.
set -eu
language=$1 data=$2 work=$3/speech-$1 panjabi=$3/speech-pa
run() { name=$1; shift; python3 -m "speech.$name" --language "$language" "$@"; }
case $language in
pa) steps=9000 threshold=0.1 weight=0.5 other=0.9 folds="F04 M01" ;;
en) steps=9000 threshold=0.3 weight=0.2 other=0.4 folds="george+jackson lucas+nicolas" ;;
esac
mkdir -p "$work"

run corpus --data "$data" --kind words --hours 1.5 --seed 1 --out "$work/words"
run corpus --data "$data" --kind sentences --hours 10 --seed 2 --out "$work/sentences"
run corpus --data "$data" --kind sentences --engine flite --hours 1.5 --seed 5 --out "$work/flite"
run corpus --data "$data" --kind digits --hours 0.75 --seed 6 --out "$work/digits"
if [ "$language" = pa ]; then
    quarters() { run corpus --data "$data" --shard-minutes 15 "$@"; }
    quarters --kind sentences --engine abroad --hours 3 --seed 11 --out "$work/abroad"
    quarters --kind words --engine abroad --hours 0.5 --seed 12 --out "$work/abroad"
    quarters --kind digits --engine abroad --hours 0.25 --seed 13 --out "$work/digits"
    quarters --kind sentences --engine pico --hours 1.5 --seed 14 --out "$work/pico"
else
    run corpus --data "$data" --kind sentences --engine pico --hours 3 --seed 11 --out "$work/pico"
    run corpus --data "$data" --kind words --engine pico --hours 0.5 --seed 12 --out "$work/pico"
    run corpus --data "$data" --kind digits --engine pico --hours 0.25 --shard-minutes 15 --seed 13 --out "$work/digits"
    run corpus --data "$data" --kind sentences --engine festival --hours 1.5 --seed 14 --out "$work/british"
fi
for part in dev test; do
    [ -d "$work/$part" ] || run held --data "$data" --part $part --out "$work/$part"
done
[ -d "$work/real" ] || run real --data "$data" --out "$work/real"
# Debian's asterisk-core-sounds-en and -en-g722, installed or unpacked
if [ "$language" = en ] && [ ! -d "$work/real/allison" ]; then
    python3 -m speech.prompts --sounds "${AKHAR_PROMPTS_DIR:-/}" --out "$work/real/allison"
fi
[ -f "$work/lm" ] || run ngram --data "$data" --threshold $threshold --out "$work/lm"

# At one rate, then at one that falls to nothing: with all speakers for the model that is shipped; for each fold with
# those whom it may hear, so that who reads a speaker's digits has never heard that speaker.
voices="$work/words=0.7 $work/sentences=3 $work/digits=0.6"
case $language in
pa) voices="$voices $work/flite=0.7 $work/abroad=1.2 $work/pico=0.8" ;;
en) voices="$voices $work/flite=1 $work/british=0.8 $work/pico=1.6 $work/allison=0.3" ;;
esac
train() { run train --muon --frames 9000 --dev "$work/dev/clean" --shards "$@"; }
from=""
if [ "$language" = en ]; then
    [ -f "$panjabi/stable.pt" ] || { echo "rebuild speech-pa first" >&2; exit 1; }
    from="--transfer $panjabi/stable.pt"
fi
train $voices $from --steps $steps --out "$work/stable.pt"
real=""
for folder in "$work"/real/*; do real="$real $folder=$weight"; done
train $voices $real --init "$work/stable.pt" --decay-steps 1000 --out "$work/final.pt"
run export --checkpoint "$work/final.pt" --out "$work/model"
for fold in $folds; do
    others=""
    for folder in "$work"/real/*; do
        case +$fold+ in *+"${folder##*/}"+*) ;; *) others="$others $folder=$other" ;; esac
    done
    train $voices $others --init "$work/stable.pt" --decay-steps 500 --out "$work/fold-$fold.pt"
    run export --checkpoint "$work/fold-$fold.pt" --out "$work/folds/$fold"
done

run ship --model "$work/model" --lm "$work/lm" --dev "$work/dev/clean" --models-dir ..
readings=""
if [ "$language" = en ]; then readings=--readings; fi
run evaluate --models-dir .. --data "$data" --held "$work/test" --folds "$work/folds" $readings \
    --json "notes/speech-$language.json"
run card --models-dir ..
