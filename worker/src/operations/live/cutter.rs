//! Cuts the sound of a session into utterances, at pauses: samples come in, and when utterances begin and end goes out.
//!
//! Where it cuts depends on the samples and on what its caller asks for alone, never on when they come or in which parts. So an
//! attempt that goes on from a [`CutterState`] finds the same utterances as one that was not interrupted.

use std::ops::Range;

use akhar_requests::live::TurnDetection;
use serde::{Deserialize, Serialize};

/// The steps of a second: power is measured over 20 ms.
const STEPS_PER_S: usize = 50;
/// Speech begins where so many steps of [`ONSET_WITHIN`] are loud.
const ONSET: usize = 3;
const ONSET_WITHIN: usize = 5;
/// The longest utterance, steps (28 s), and what is left of it before it is cut at the earliest. The recogniser reads one that is
/// longer than a window as it reads a recording.
const LONGEST: usize = 28 * STEPS_PER_S;
const EARLIEST: usize = 14 * STEPS_PER_S;
/// The shortest pause at which a long utterance is cut, steps (0.3 s), and the silence that is kept at the end of any.
const PAUSE: usize = 15;
/// Where it has no pause, it is cut in the middle of its quietest steps (0.1 s).
const QUIETEST: usize = 5;
/// A mean square below this is no speech (-55 dB of full scale), at the usual threshold.
const FLOOR: f32 = 3.2e-6;
/// A mean square below this is silence in any recording (-70 dB).
const SILENCE: f32 = 1e-7;
/// Speech begins when it is louder than the noise by more than this (9 dB), and pauses when it is not by this (6 dB).
const ABOVE_NOISE: f32 = 8.0;
const BESIDE_NOISE: f32 = 4.0;
/// A mean square below this share of the loud parts is a pause (-35 dB), and one above this share is none (-15 dB), whatever the noise.
const PAUSE_SHARE: f32 = 3.2e-4;
const SPEECH_SHARE: f32 = 0.03;
/// By how much noise seems louder (1 dB in a second) and loud parts quieter (0.2 dB in a second) with each step.
const NOISE_RISE: f32 = 1.0047;
const LOUD_FALL: f32 = 0.999;
/// The loudest that noise is taken to be when a session begins (-40 dB).
const FIRST_NOISE: f32 = 1e-4;

/// How loud the noise and the loud parts of the sound are so far, as mean squares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Level {
    noise: f32,
    loud: f32,
}

impl Level {
    fn after(self, power: f32) -> Self {
        let noise = self.noise.min(FIRST_NOISE) * NOISE_RISE;
        Self { noise: noise.min(power.max(SILENCE / ABOVE_NOISE)), loud: (self.loud * LOUD_FALL).max(power) }
    }

    fn is_onset(self, power: f32, factor: f32) -> bool {
        power > (FLOOR * factor).max(self.noise * ABOVE_NOISE)
    }

    fn is_pause(self, power: f32) -> bool {
        let share = (self.loud * PAUSE_SHARE).max(self.noise * BESIDE_NOISE).min(self.loud * SPEECH_SHARE);
        power < share.max(SILENCE)
    }
}

/// From where a cutter goes on: what its caller has to give it again begins at `position`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct CutterState {
    /// The position in the session, samples.
    pub(super) position: u64,
    level: Level,
    /// Whether an utterance begins there without an onset.
    pub(super) is_further: bool,
}

impl Default for CutterState {
    fn default() -> Self {
        Self { position: 0, level: Level { noise: FIRST_NOISE, loud: 0.0 }, is_further: false }
    }
}

/// What was found, with the position behind the sound that shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cut {
    /// An utterance begins at this sample of the session. Another cutter finds that again from this state.
    Started { at: u64, heard: u64, next: CutterState },
    /// An utterance is over, and the next cutter would go on from this state.
    Ended { utterance: Range<u64>, heard: u64, next: CutterState },
}

/// A step of the sound that is kept.
#[derive(Debug, Clone, Copy)]
struct Step {
    power: f32,
    /// The level before it.
    before: Level,
    is_pause: bool,
}

/// Cuts a session.
#[derive(Debug)]
pub(super) struct Cutter {
    pub(super) settings: TurnDetection,
    /// Samples of a step.
    step: usize,
    /// The position of the first step.
    position: u64,
    steps: Vec<Step>,
    /// The samples behind the last step, which are fewer than a step.
    samples: Vec<f32>,
    level: Level,
    /// The first step of the open utterance, and whether it goes on from one that was too long, without an onset.
    open: Option<usize>,
    is_further: bool,
}

impl Cutter {
    /// Goes on from a state, with sound at this rate.
    pub(super) fn new(rate: u32, settings: TurnDetection, state: CutterState) -> Self {
        Self {
            settings,
            step: usize::try_from(rate).unwrap_or(usize::MAX) / STEPS_PER_S,
            position: state.position,
            steps: Vec::new(),
            samples: Vec::new(),
            level: state.level,
            open: state.is_further.then_some(0),
            is_further: state.is_further,
        }
    }

    /// From where another cutter would go on.
    pub(super) fn state(&self) -> CutterState {
        let level = self.steps.first().map_or(self.level, |step| step.before);
        CutterState { position: self.position, level, is_further: self.is_further }
    }

    /// The position behind the last sample.
    pub(super) fn end(&self) -> u64 {
        self.at(self.steps.len()) + self.samples.len() as u64
    }

    /// The beginning of the open utterance, and that of the pause at its end.
    pub(super) fn open(&self) -> Option<(u64, u64)> {
        let n_pause = self.steps.iter().rev().take_while(|step| step.is_pause).count();
        Some((self.at(self.open?), self.at(self.steps.len() - n_pause)))
    }

    /// The sound before this position belongs to the open utterance, wherever that will be cut.
    pub(super) fn belongs_until(&self) -> u64 {
        self.at(self.open.map_or(0, |open| open + EARLIEST))
    }

    /// Takes the next samples.
    pub(super) fn push(&mut self, samples: &[f32]) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let mut rest = samples;
        while !rest.is_empty() {
            let n = self.step - self.samples.len();
            let (next, further) = rest.split_at(n.min(rest.len()));
            self.samples.extend_from_slice(next);
            rest = further;
            if next.len() == n {
                let power = power(&self.samples);
                self.samples.clear();
                self.take_step(power, &mut cuts);
            }
        }
        cuts
    }

    /// Ends the open utterance here. Without one, the sound that is kept is an utterance.
    pub(super) fn commit(&mut self) -> Range<u64> {
        let utterance = self.at(self.open.unwrap_or(0))..self.end();
        self.clear();
        utterance
    }

    /// Whether an utterance is open.
    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Drops the sound that is kept, with the open utterance.
    pub(super) fn clear(&mut self) {
        self.position = self.end();
        self.steps.clear();
        self.samples.clear();
        self.open = None;
        self.is_further = false;
    }

    /// The position of a step.
    const fn at(&self, step: usize) -> u64 {
        self.position + (step * self.step) as u64
    }

    fn take_step(&mut self, power: f32, cuts: &mut Vec<Cut>) {
        let before = self.level;
        self.level = before.after(power);
        self.steps.push(Step { power, before, is_pause: self.level.is_pause(power) });
        let Some(open) = self.open else { return self.look_for_onset(cuts) };
        let n_pause = self.steps[open..].iter().rev().take_while(|step| step.is_pause).count();
        let n = self.steps.len();
        let (start, heard) = (self.at(open), self.at(n));
        if n_pause >= n_steps(self.settings.silence_ms).max(PAUSE) {
            let utterance = start..self.at(n - n_pause + PAUSE);
            self.clear();
            cuts.push(Cut::Ended { utterance, heard, next: self.state() });
        } else if n - open >= LONGEST {
            let end = self.cut_of(open);
            let utterance = start..self.at(end);
            let rest = self.steps.split_off(end);
            self.forget_steps(end);
            self.level = rest.first().map_or(self.level, |step| step.before);
            self.open = Some(0);
            self.is_further = true;
            cuts.push(Cut::Ended { utterance, heard, next: self.state() });
            cuts.push(Cut::Started { at: self.position, heard, next: self.state() });
            for step in rest {
                self.take_step(step.power, cuts);
            }
        }
    }

    fn look_for_onset(&mut self, cuts: &mut Vec<Cut>) {
        // How many times as loud as usual speech has to be.
        let factor = 10_f32.powf((self.settings.threshold.clamp(0.0, 1.0) - 0.5) * 4.0);
        let n = self.steps.len();
        let loud = (n.saturating_sub(ONSET_WITHIN)..n)
            .filter(|at| self.steps[*at].before.is_onset(self.steps[*at].power, factor));
        let loud: Vec<usize> = loud.collect();
        let n_prefix = n_steps(self.settings.prefix_ms);
        match loud.first() {
            Some(first) if loud.len() >= ONSET => {
                self.forget_steps(first.saturating_sub(n_prefix));
                self.open = Some(0);
                cuts.push(Cut::Started { at: self.position, heard: self.end(), next: self.state() });
            }
            _ => self.forget_steps(n.saturating_sub(n_prefix + ONSET_WITHIN)),
        }
    }

    /// The step before which an utterance is cut that is too long.
    fn cut_of(&self, open: usize) -> usize {
        let from = open + EARLIEST;
        let steps = &self.steps[from..];
        let mut best = 0..0;
        let mut start = 0;
        for (at, step) in steps.iter().enumerate() {
            if !step.is_pause {
                start = at + 1;
            } else if at + 1 - start > best.len() {
                best = start..at + 1;
            }
        }
        if best.len() >= PAUSE {
            return from + usize::midpoint(best.start, best.end);
        }
        let sums = steps.windows(QUIETEST).map(|steps| steps.iter().map(|step| step.power).sum::<f32>());
        let quietest = sums.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(at, _)| at);
        from + quietest + QUIETEST / 2
    }

    fn forget_steps(&mut self, n: usize) {
        self.position = self.at(n);
        self.steps.drain(..n);
    }
}

fn n_steps(ms: u32) -> usize {
    usize::try_from(ms).unwrap_or(usize::MAX).div_ceil(1000 / STEPS_PER_S)
}

/// The mean square.
#[expect(clippy::cast_precision_loss, reason = "a step has a few hundred samples")]
fn power(samples: &[f32]) -> f32 {
    samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len() as f32
}

#[cfg(test)]
#[path = "cutter_tests.rs"]
mod tests;
