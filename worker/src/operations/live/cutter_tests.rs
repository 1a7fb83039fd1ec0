//! Tests of the cutter.

use proptest::prelude::*;

use super::*;

const RATE: u32 = 8000;
const SETTINGS: TurnDetection = TurnDetection { silence_ms: 500, prefix_ms: 300, threshold: 0.5 };

/// A hum of these levels, dB, each for some steps. Levels below -90 are silence.
fn sound(parts: &[(i8, usize)]) -> Vec<f32> {
    let step = usize::try_from(RATE).unwrap() / STEPS_PER_S;
    let part = |(level, n): &(i8, usize)| {
        let amplitude = if *level < -90 { 0.0 } else { 10_f32.powf(f32::from(*level) / 20.0) };
        (0..n * step + 7).map(move |i| amplitude * if i % 20 < 10 { 1.0 } else { -1.0 })
    };
    parts.iter().flat_map(part).collect()
}

fn cutter(state: CutterState) -> Cutter {
    Cutter::new(RATE, SETTINGS, state)
}

/// The last utterance, which is ended by whoever speaks.
fn last(mut cutter: Cutter) -> Cut {
    let utterance = cutter.commit();
    Cut::Ended { utterance, heard: cutter.end(), next: cutter.state() }
}

fn cuts(samples: &[f32]) -> Vec<Cut> {
    let mut cutter = cutter(CutterState::default());
    let mut cuts = cutter.push(samples);
    cuts.push(last(cutter));
    cuts
}

fn spoken(parts: &[(i8, usize)]) -> Vec<(f64, f64)> {
    let mut cutter = cutter(CutterState::default());
    let ended = cutter.push(&sound(parts)).into_iter().filter_map(|cut| match cut {
        Cut::Ended { utterance, .. } => Some(utterance),
        Cut::Started { .. } => None,
    });
    let seconds = |samples: u64| f64::from(u32::try_from(samples).unwrap()) / f64::from(RATE);
    ended.map(|utterance| (seconds(utterance.start), seconds(utterance.end))).collect()
}

fn near(found: &[(f64, f64)], expected: &[(f64, f64)]) {
    let is_near = |((a, b), (c, d)): (&(f64, f64), &(f64, f64))| (a - c).abs() < 0.1 && (b - d).abs() < 0.1;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_near), "{found:?}");
}

#[test]
fn an_utterance_ends_at_a_pause_that_is_long_enough() {
    let speech = [(-99, 50), (-20, 40), (-99, 20), (-20, 40), (-99, 30), (-30, 30), (-99, 40)];
    near(&spoken(&speech), &[(0.7, 3.3), (3.5, 4.5)]);
    near(&spoken(&[(-99, 500)]), &[]);
    near(&spoken(&[(-99, 50), (-20, 1), (-99, 100)]), &[]);
}

#[test]
fn noise_is_neither_speech_nor_keeps_an_utterance_open() {
    near(&spoken(&[(-50, 500)]), &[]);
    near(&spoken(&[(-45, 100), (-20, 50), (-45, 50), (-20, 50), (-45, 50)]), &[(1.7, 3.3), (3.7, 5.3)]);
}

#[test]
fn a_long_utterance_is_cut_at_its_longest_pause_or_where_it_is_quietest() {
    let pause = [(-99, 20), (-20, 1000), (-99, 18), (-20, 200), (-99, 16), (-20, 500)];
    assert!((spoken(&pause)[0].1 - 20.6).abs() < 0.1, "{:?}", spoken(&pause));
    let dip = [(-99, 20), (-20, 1000), (-40, 6), (-20, 700)];
    assert!((spoken(&dip)[0].1 - 20.5).abs() < 0.1, "{:?}", spoken(&dip));
}

fn any_sound() -> impl Strategy<Value = Vec<f32>> {
    let level = prop_oneof![Just(-99_i8), -70..-10_i8];
    let part = (level, prop_oneof![1..60_usize, 1..60_usize, 1..60_usize, 700..1600_usize]);
    prop::collection::vec(part, 1..6).prop_map(|parts| sound(&parts))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_parts_of_the_sound_make_no_difference(
        samples in any_sound(),
        sizes in prop::collection::vec(1..9000_usize, 1..20),
    ) {
        let mut parts = cutter(CutterState::default());
        let mut found = Vec::new();
        let mut rest = &samples[..];
        for size in sizes.iter().cycle() {
            let (part, further) = rest.split_at((*size).min(rest.len()));
            found.extend(parts.push(part));
            rest = further;
            if rest.is_empty() {
                break;
            }
        }
        found.push(last(parts));
        prop_assert_eq!(found, cuts(&samples));
    }

    #[test]
    fn a_cutter_that_goes_on_finds_what_the_first_one_would(samples in any_sound(), at in 0.0..1.0_f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a test")]
        let at = (samples.len() as f64 * at) as usize;
        let mut first = cutter(CutterState::default());
        let ended = |cuts: Vec<Cut>| cuts.into_iter().filter(|cut| matches!(cut, Cut::Ended { .. }));
        let mut found: Vec<Cut> = ended(first.push(&samples[..at])).collect();
        let state = serde_json::to_string(&first.state()).unwrap();
        let mut next = cutter(serde_json::from_str(&state).unwrap());
        let from = usize::try_from(first.state().position).unwrap();
        found.extend(ended(next.push(&samples[from..])));
        found.push(last(next));
        prop_assert_eq!(found, ended(cuts(&samples)).collect::<Vec<_>>());
    }

    #[test]
    fn a_cutter_that_goes_on_from_the_start_of_an_utterance_finds_it_again(samples in any_sound()) {
        let all = cuts(&samples);
        for (nth, cut) in all.iter().enumerate() {
            let Cut::Started { next: state, .. } = cut else { continue };
            let mut next = cutter(*state);
            let from = usize::try_from(state.position).unwrap();
            let mut found = next.push(&samples[from..]);
            found.push(last(next));
            // One that goes on from an utterance that was too long is open from the beginning.
            let expected = &all[nth + usize::from(state.is_further)..];
            prop_assert_eq!(&found[..], expected);
        }
    }

    #[test]
    fn utterances_do_not_overlap_and_are_shown_by_the_sound_before_their_cut(samples in any_sound()) {
        let mut end = 0;
        let mut last_heard = 0;
        for cut in cuts(&samples) {
            let (Cut::Started { heard, .. } | Cut::Ended { heard, .. }) = cut;
            prop_assert!(heard >= last_heard && heard <= samples.len() as u64, "{cut:?}");
            last_heard = heard;
            if let Cut::Ended { utterance, .. } = cut {
                prop_assert!(end <= utterance.start && utterance.start <= utterance.end && utterance.end <= heard);
                end = utterance.end;
            }
        }
    }
}
