//! An n-gram language model with back-off over units of text. It gives the log-probability of a unit after
//! others.
//!
//! `training/speech/search/ngram.py` writes the file (`training/notes/speech-lm.md` describes it): a trie, stored
//! order by order, with eight-bit codes for log-probabilities and back-off weights.

/// The highest order of n-grams that a file may have.
const MAX_ORDER: usize = 8;
const MAGIC: &[u8] = b"AKHARLM1";
const NONE: u32 = u32::MAX;

/// An n-gram model with back-off.
#[derive(Debug, Clone)]
pub(crate) struct LanguageModel {
    /// The log-probability of each code.
    log_probs: Vec<f32>,
    /// The back-off weight of each code.
    weights: Vec<f32>,
    orders: Vec<Order>,
}

/// The n-grams of one order.
#[derive(Debug, Clone)]
struct Order {
    /// The last unit of each n-gram.
    units: Vec<u8>,
    log_prob_codes: Vec<u8>,
    /// The codes of the back-off weights; empty in the highest order.
    weight_codes: Vec<u8>,
    /// For each n-gram, the index of its first child in the next order. One more entry marks the end. Empty
    /// in the highest order.
    first: Vec<u32>,
}

/// The model's state after a text: for each order below the highest, the n-gram at the end of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State([u32; MAX_ORDER - 1]);

impl State {
    /// The state at the start of a text, as if a space came before it.
    pub(crate) const START: Self = {
        let mut state = [NONE; MAX_ORDER - 1];
        state[0] = 0;
        Self(state)
    };
}

impl LanguageModel {
    /// Reads a file for `n_units` units, the first of which is the space. The error says what is wrong in the
    /// file.
    pub(crate) fn read(bytes: &[u8], n_units: usize) -> Result<Self, String> {
        let mut reader = Reader(bytes);
        if reader.bytes(MAGIC.len())? != MAGIC {
            return Err("expected AKHARLM1 at its beginning".to_owned());
        }
        let order = reader.number()?;
        let size = reader.number()?;
        if !(2..=MAX_ORDER).contains(&order) || size != n_units {
            return Err(format!(
                "it has the order {order} and {size} units, \
                 expected an order of 2 to {MAX_ORDER} and {n_units} units"
            ));
        }
        let counts: Vec<usize> = (0..order).map(|_| reader.number()).collect::<Result<_, _>>()?;
        if counts[0] != size {
            return Err(format!("it has {} n-grams of order 1, expected {size}", counts[0]));
        }
        let log_probs = reader.floats(256)?;
        let weights = reader.floats(256)?;
        let mut orders = Vec::with_capacity(order);
        for (n, &count) in counts.iter().enumerate() {
            orders.push(reader.order(count, counts.get(n + 1).copied())?);
        }
        if orders.iter().any(|o| o.units.iter().any(|u| usize::from(*u) >= size)) {
            return Err(format!("an n-gram ends in a unit beyond the {size} units that there are"));
        }
        match reader.0.len() {
            0 => Ok(Self { log_probs, weights, orders }),
            more => Err(format!("it has {more} bytes too many")),
        }
    }

    /// The natural logarithm of the probability of `unit` in `state`, and the state after the unit.
    pub(crate) fn step(&self, state: State, unit: u8) -> (f32, State) {
        let mut next = State([NONE; MAX_ORDER - 1]);
        next.0[0] = u32::from(unit);
        let mut score = 0.0;
        let mut found = None;
        for n in (1..self.orders.len()).rev() {
            let node = state.0[n - 1];
            if node == NONE {
                continue;
            }
            let (order, above) = (&self.orders[n - 1], &self.orders[n]);
            if let Some(child) = child(order, above, node as usize, unit) {
                found = found.or(Some(self.log_probs[usize::from(above.log_prob_codes[child])]));
                if n < self.orders.len() - 1 {
                    next.0[n] = u32::try_from(child).unwrap_or(NONE);
                }
            } else if found.is_none() {
                score += self.weights[usize::from(order.weight_codes[node as usize])];
            }
        }
        let unigram = || self.log_probs[usize::from(self.orders[0].log_prob_codes[usize::from(unit)])];
        (score + found.unwrap_or_else(unigram), next)
    }
}

/// The index, in the next order, of an n-gram extended by `unit`.
fn child(order: &Order, above: &Order, node: usize, unit: u8) -> Option<usize> {
    let children = order.first[node] as usize..order.first[node + 1] as usize;
    let at = above.units[children.clone()].binary_search(&unit).ok()?;
    Some(children.start + at)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, n: usize) -> Result<&'a [u8], String> {
        let ends = || format!("it ends {} bytes early", n - self.0.len());
        let (now, later) = self.0.split_at_checked(n).ok_or_else(ends)?;
        self.0 = later;
        Ok(now)
    }

    fn fours(&mut self, n: usize) -> Result<impl Iterator<Item = [u8; 4]> + use<'a>, String> {
        let (fours, _) = self.bytes(n.saturating_mul(4))?.as_chunks();
        Ok(fours.iter().copied())
    }

    fn number(&mut self) -> Result<usize, String> {
        Ok(self.fours(1)?.map(u32::from_le_bytes).sum::<u32>() as usize)
    }

    fn floats(&mut self, n: usize) -> Result<Vec<f32>, String> {
        let floats: Vec<f32> = self.fours(n)?.map(f32::from_le_bytes).collect();
        let are_finite = floats.iter().all(|f| f.is_finite());
        are_finite.then_some(floats).ok_or_else(|| "a log-probability or weight is not finite".to_owned())
    }

    /// Reads an order with `count` n-grams. `next` is the number of n-grams of the next order, if there is
    /// one.
    fn order(&mut self, count: usize, next: Option<usize>) -> Result<Order, String> {
        let units = self.bytes(count)?.to_vec();
        let log_prob_codes = self.bytes(count)?.to_vec();
        let mut weight_codes = Vec::new();
        let mut first = Vec::new();
        if let Some(next) = next {
            weight_codes = self.bytes(count)?.to_vec();
            first = self.fours(count.saturating_add(1))?.map(u32::from_le_bytes).collect();
            if !first.is_sorted() || first.last().is_none_or(|last| *last as usize != next) {
                return Err(format!(
                    "the indices of children are not in order, \
                     or do not end at {next}, the size of the next order"
                ));
            }
        }
        Ok(Order { units, log_prob_codes, weight_codes, first })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file with two units, the space and a letter, and one bigram, the space after the letter. The
    /// arguments are the log-probabilities of the three n-grams and the letter's back-off weight.
    pub(crate) fn tiny(space: f32, letter: f32, space_after_letter: f32, back_off: f32) -> Vec<u8> {
        let levels = |values: &[f32]| {
            let mut levels = vec![0.0; 256];
            levels[..values.len()].copy_from_slice(values);
            levels.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>()
        };
        let numbers = |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        [
            MAGIC.to_vec(),
            numbers(&[2, 2, 2, 1]),
            levels(&[space, letter, space_after_letter]),
            levels(&[0.0, back_off]),
            vec![0, 1, 0, 1, 0, 1],
            numbers(&[0, 0, 1]),
            vec![0, 2],
        ]
        .concat()
    }

    #[test]
    fn an_n_gram_that_is_missing_backs_off() {
        let model = LanguageModel::read(&tiny(-1.0, -2.0, -0.5, -0.25), 2).unwrap();
        let (first, state) = model.step(State::START, 1);
        let (again, _) = model.step(state, 1);
        let (space, _) = model.step(state, 0);
        for (given, expected) in [(first, -2.0), (again, -2.25), (space, -0.5)] {
            assert!((given - expected).abs() < 1e-6, "{given}, expected {expected}");
        }
    }

    #[test]
    fn files_that_are_not_valid_are_refused() {
        let file = tiny(-1.0, -2.0, -0.5, -0.25);
        assert!(LanguageModel::read(&file, 3).unwrap_err().contains("2 units"));
        assert!(LanguageModel::read(&file[..file.len() - 1], 2).unwrap_err().contains("early"));
        assert!(LanguageModel::read(&[&file[..], b"x"].concat(), 2).unwrap_err().contains("too many"));
        assert!(LanguageModel::read(b"RIFFxxxx", 2).unwrap_err().contains("AKHARLM1"));
    }

    proptest! {
        #[test]
        fn a_damaged_file_does_not_panic(
            at in 0usize..2099,
            byte: u8,
            text in proptest::collection::vec(0u8..2, 0..9),
        ) {
            let mut file = tiny(-1.0, -2.0, -0.5, -0.25);
            let at = at % file.len();
            file[at] = byte;
            if let Ok(model) = LanguageModel::read(&file, 2) {
                let mut state = State::START;
                for unit in text {
                    state = model.step(state, unit).1;
                }
            }
        }
    }
}
