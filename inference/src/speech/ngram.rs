//! A language model over units: a file of n-grams comes in; the log-probability of a unit after others comes
//! out.
//!
//! The file is what `training/speech/ngram.py` writes (`training/notes/speech-lm.md`): a trie
//! by order, with eight-bit codes for log-probabilities and back-off weights.

/// The longest n-grams a file may have.
const MAX_ORDER: usize = 8;
const MAGIC: &[u8] = b"AKHARLM1";
const NONE: u32 = u32::MAX;

/// An n-gram model with back-off.
#[derive(Debug, Clone)]
pub(crate) struct LanguageModel {
    /// By code.
    log_probs: Vec<f32>,
    /// By code.
    weights: Vec<f32>,
    orders: Vec<Order>,
}

/// The n-grams of one length.
#[derive(Debug, Clone)]
struct Order {
    /// The last unit of each.
    units: Vec<u8>,
    log_prob_codes: Vec<u8>,
    /// Back-off weights; none in the last order.
    weight_codes: Vec<u8>,
    /// Where each one's children begin in the next order, and where the last one's end; none in the last.
    first: Vec<u32>,
}

/// The model's state after a text: for each length below the longest, the n-gram that the text ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State([u32; MAX_ORDER - 1]);

impl State {
    /// At the start of a text, where a space stands before it.
    pub(crate) const START: Self = {
        let mut state = [NONE; MAX_ORDER - 1];
        state[0] = 0;
        Self(state)
    };
}

impl LanguageModel {
    /// Reads a file for `n_units` units, the first of which is the space; the error says what is wrong.
    pub(crate) fn read(bytes: &[u8], n_units: usize) -> Result<Self, String> {
        let mut reader = Reader(bytes);
        if reader.bytes(MAGIC.len())? != MAGIC {
            return Err("it does not begin with AKHARLM1".to_owned());
        }
        let (order, size) = (reader.number()?, reader.number()?);
        if !(2..=MAX_ORDER).contains(&order) || size != n_units {
            return Err(format!("order {order} of {size} units, expected 2 to {MAX_ORDER} of {n_units}"));
        }
        let counts: Vec<usize> = (0..order).map(|_| reader.number()).collect::<Result<_, _>>()?;
        if counts[0] != size {
            return Err(format!("{} n-grams of order 1, expected {size}", counts[0]));
        }
        let (log_probs, weights) = (reader.floats(256)?, reader.floats(256)?);
        let mut orders = Vec::with_capacity(order);
        for (n, &count) in counts.iter().enumerate() {
            orders.push(reader.order(count, counts.get(n + 1).copied())?);
        }
        if orders.iter().any(|o| o.units.iter().any(|u| usize::from(*u) >= size)) {
            return Err(format!("a unit beyond its {size}"));
        }
        match reader.0.len() {
            0 => Ok(Self { log_probs, weights, orders }),
            more => Err(format!("{more} bytes too many")),
        }
    }

    /// The natural logarithm of a unit's probability after what came before, and the state
    /// after it.
    pub(crate) fn step(&self, state: State, unit: u8) -> (f32, State) {
        let mut next = State([NONE; MAX_ORDER - 1]);
        next.0[0] = u32::from(unit);
        let (mut score, mut found) = (0.0, None);
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

/// The n-gram one unit longer.
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
        if floats.iter().all(|f| f.is_finite()) { Ok(floats) } else { Err("a level is not finite".into()) }
    }

    /// One order, and how many the next one has.
    fn order(&mut self, count: usize, next: Option<usize>) -> Result<Order, String> {
        let units = self.bytes(count)?.to_vec();
        let log_prob_codes = self.bytes(count)?.to_vec();
        let (mut weight_codes, mut first) = (Vec::new(), Vec::new());
        if let Some(next) = next {
            weight_codes = self.bytes(count)?.to_vec();
            first = self.fours(count.saturating_add(1))?.map(u32::from_le_bytes).collect();
            if !first.is_sorted() || first.last().is_none_or(|last| *last as usize != next) {
                return Err(format!("children out of order, or other than the {next} there are"));
            }
        }
        Ok(Order { units, log_prob_codes, weight_codes, first })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Two units, the space and a letter; after the letter, the space: `log_probs` by n-gram.
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
    fn what_is_not_there_backs_off() {
        let model = LanguageModel::read(&tiny(-1.0, -2.0, -0.5, -0.25), 2).unwrap();
        let (first, state) = model.step(State::START, 1);
        let (again, _) = model.step(state, 1);
        let (space, _) = model.step(state, 0);
        for (given, expected) in [(first, -2.0), (again, -2.25), (space, -0.5)] {
            assert!((given - expected).abs() < 1e-6, "{given}, expected {expected}");
        }
    }

    #[test]
    fn another_file_is_refused() {
        let file = tiny(-1.0, -2.0, -0.5, -0.25);
        assert!(LanguageModel::read(&file, 3).unwrap_err().contains("2 units"));
        assert!(LanguageModel::read(&file[..file.len() - 1], 2).unwrap_err().contains("early"));
        assert!(LanguageModel::read(&[&file[..], b"x"].concat(), 2).unwrap_err().contains("too many"));
        assert!(LanguageModel::read(b"RIFFxxxx", 2).unwrap_err().contains("AKHARLM1"));
    }

    proptest! {
        #[test]
        fn a_damaged_file_is_refused_or_gives_some_number(at in 0usize..2099, byte: u8, said in proptest::collection::vec(0u8..2, 0..9)) {
            let mut file = tiny(-1.0, -2.0, -0.5, -0.25);
            let at = at % file.len();
            file[at] = byte;
            if let Ok(model) = LanguageModel::read(&file, 2) {
                let mut state = State::START;
                for unit in said {
                    state = model.step(state, unit).1;
                }
            }
        }
    }
}
