//! Tests of the sound that is kept.

use proptest::prelude::*;

use super::*;

const GRID: usize = 1280;

/// Seconds of a hum, or of silence.
fn sound(rate: u32, parts: &[(bool, f64)]) -> Vec<f32> {
    let part = |(loud, seconds): &(bool, f64)| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let n = (f64::from(rate) * seconds) as usize;
        let level = if *loud { 0.2 } else { 0.0 };
        (0..n).map(move |i| level * if i % 50 < 25 { 1.0 } else { -1.0 })
    };
    parts.iter().flat_map(part).collect()
}

fn windows(context: &Context) -> Vec<Window> {
    context.passage(context.end(), context.end()).windows(GRID).unwrap().0
}

fn advance(context: &mut Context, position: u64) {
    let heard = context.end();
    if context.has_ended_window(heard) {
        context.go_on_from(context.passage(heard, heard).last_window(position, GRID).unwrap());
    }
}

#[test]
fn silence_is_forgotten() {
    let rate = 8000;
    let mut context = Context::new(rate, ContextState::default());
    for _ in 0..60 {
        context.push(&sound(rate, &[(false, 1.0)]));
        let position = context.end();
        advance(&mut context, position);
        assert!(context.samples.len() <= 16 * 8000, "{}", context.samples.len());
    }
    assert_eq!(context.end(), 60 * 8000);
}

#[test]
fn sound_before_a_beginning_is_no_context() {
    let mut context = Context::new(16_000, ContextState::default());
    context.push(&sound(16_000, &[(true, 2.0)]));
    context.begin_at(32_000);
    assert!(windows(&context).is_empty());
    context.push(&sound(16_000, &[(true, 1.0)]));
    assert_eq!(windows(&context).iter().map(|window| window.start).collect::<Vec<_>>(), [32_000]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_kept_has_the_last_windows_of_the_session(
        rate in prop::sample::select(vec![8000_u32, 16_000, 24_000]),
        parts in prop::collection::vec((any::<bool>(), 0.2..9.0_f64), 1..8),
        steps in prop::collection::vec(0.0..1.0_f64, 1..4),
    ) {
        let samples = sound(rate, &parts);
        let all = {
            let mut whole = Context::new(rate, ContextState::default());
            whole.push(&samples);
            windows(&whole)
        };
        let mut context = Context::new(rate, ContextState::default());
        for share in steps {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            let end = (samples.len() as f64 * share) as usize;
            let known = usize::try_from(context.end()).unwrap();
            context.push(samples.get(known..end).unwrap_or_default());
            let position = context.end() - context.end().min(u64::from(rate) / 2);
            context.state.boundary = position;
            advance(&mut context, position);
            // Another attempt goes on from here.
            let known = usize::try_from(context.end()).unwrap();
            context = Context::new(rate, context.state);
            context.push(&samples[usize::try_from(context.end()).unwrap()..known]);
        }
        let known = usize::try_from(context.end()).unwrap();
        context.push(&samples[known..]);
        let kept = windows(&context);
        let last = &all[all.len() - kept.len()..];
        let spans = |windows: &[Window]| windows.iter().map(|w| (w.start, w.samples.len())).collect::<Vec<_>>();
        prop_assert_eq!(spans(&kept), spans(last));
        for (kept, last) in kept.iter().zip(last) {
            let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
            prop_assert!(kept.samples.iter().zip(&last.samples).all(is_near), "other sound");
        }
        let boundary = context.state.boundary;
        let first = all.iter().find(|window| window.end_s() > context.seconds(boundary));
        prop_assert!(first.is_none_or(|first| kept.iter().any(|window| window.start == first.start)));
    }
}
