#!/bin/sh
# Speaks the corpora, trains, measures and ships one language: sh speech/rebuild.sh pa|en DATA WORK
# English starts on what Panjabi has learnt. What is there is kept: a run that was stopped goes on.
set -eu
language=$1 data=$2 work=$3/speech-$1 panjabi=$3/speech-pa
run() { name=$1; shift; python3 -m "speech.$name" --language "$language" "$@"; }
case $language in
pa) steps=8000 threshold=0.1 weight=0.5 other=0.9 folds="F04 M01" ;;
en) steps=8000 threshold=0.3 weight=0.2 other=0.4 folds="george+jackson lucas+nicolas" ;;
esac
mkdir -p "$work"

run corpus --data "$data" --kind words --hours 1.5 --seed 1 --out "$work/words"
run corpus --data "$data" --kind sentences --hours 10 --seed 2 --out "$work/sentences"
run corpus --data "$data" --kind sentences --engine flite --hours 1.5 --seed 5 --out "$work/flite"
run corpus --data "$data" --kind digits --hours 0.75 --seed 6 --out "$work/digits"
for part in dev test; do
    [ -d "$work/$part" ] || run held --data "$data" --part $part --out "$work/$part"
done
[ -d "$work/real" ] || run real --data "$data" --out "$work/real"
[ -f "$work/lm" ] || run ngram --data "$data" --threshold $threshold --out "$work/lm"

# Synthetic voices alone: at one rate, then at one that falls to three tenths.
synthetic="$work/words=0.7 $work/sentences=3 $work/flite=1 $work/digits=0.6"
train() { run train --frames 6000 --dev "$work/dev/clean" --shards "$@"; }
from=""
if [ "$language" = en ]; then
    [ -f "$panjabi/stable.pt" ] || { echo "rebuild speech-pa first" >&2; exit 1; }
    from="--transfer $panjabi/stable.pt"
fi
train $synthetic $from --steps $steps --out "$work/stable.pt"
train $synthetic --init "$work/stable.pt" --decay-steps 1500 --last 0.3 --out "$work/falling.pt"

# Then people as well, the rate falling to nothing: all speakers for the model that is shipped; for each fold those whom
# it may hear, so that who reads a speaker's digits has never heard that speaker.
real=""
for folder in "$work"/real/*; do real="$real $folder=$weight"; done
train $synthetic $real --init "$work/falling.pt" --lr 6e-4 --decay-steps 1000 --out "$work/final.pt"
run export --checkpoint "$work/final.pt" --out "$work/model"
for fold in $folds; do
    others=""
    for folder in "$work"/real/*; do
        case +$fold+ in *+"${folder##*/}"+*) ;; *) others="$others $folder=$other" ;; esac
    done
    train $synthetic $others --init "$work/falling.pt" --lr 6e-4 --decay-steps 1000 --out "$work/fold-$fold.pt"
    run export --checkpoint "$work/fold-$fold.pt" --out "$work/folds/$fold"
done

run ship --model "$work/model" --lm "$work/lm" --dev "$work/dev/clean" --models-dir ..
readings=""
if [ "$language" = en ]; then readings=--readings; fi
run evaluate --models-dir .. --data "$data" --held "$work/test" --folds "$work/folds" $readings \
    --json "notes/speech-$language.json"
run card --models-dir ..
