//! A budget: an amount that is divided among requests, such as bytes of memory, and how much of it one key may have.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use parking_lot::Mutex;

/// An amount that can be taken in parts. A part has a key, such as an account, and no key can take everything.
#[derive(Debug)]
pub struct Budget<K: Eq + Hash> {
    state: Mutex<State<K>>,
}

/// The limits, and what is taken at present.
#[derive(Debug)]
struct State<K> {
    limit: usize,
    limit_per_key: usize,
    total: usize,
    /// Has no entry for a key that has taken nothing.
    by_key: HashMap<K, usize>,
}

/// The limit that an amount would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitReached {
    /// What the key may have. Other keys may get the amount.
    OfKey,
    /// What all keys together may have.
    OfAll,
}

/// A part of a budget. It is returned to the budget when this is dropped.
#[derive(Debug)]
pub struct Share<K: Eq + Hash> {
    budget: Arc<Budget<K>>,
    key: K,
    amount: usize,
}

impl<K: Eq + Hash + Clone> Budget<K> {
    /// How much each key has taken at present.
    pub fn taken_by_key(&self) -> Vec<(K, usize)> {
        self.state.lock().by_key.iter().map(|(key, amount)| (key.clone(), *amount)).collect()
    }

    /// A budget of `total`, of which one key may have `per_key`.
    pub fn new(total: usize, per_key: usize) -> Arc<Self> {
        let state = State { limit: total, limit_per_key: per_key, total: 0, by_key: HashMap::new() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Takes `amount`. Fails if the key's part of the budget, or the budget, has less than that left.
    pub fn take(self: &Arc<Self>, key: K, amount: usize) -> Result<Share<K>, LimitReached> {
        let mut share = Share { budget: self.clone(), key, amount: 0 };
        share.grow_to(amount)?;
        Ok(share)
    }

    /// Takes `amount`, or all that one key may have if that is less. Fails if so much is not left.
    pub fn take_up_to_part(self: &Arc<Self>, key: K, amount: usize) -> Result<Share<K>, LimitReached> {
        let of_key = self.state.lock().limit_per_key;
        self.take(key, amount.min(of_key))
    }

    fn try_add(&self, key: &K, amount: usize) -> Result<(), LimitReached> {
        let mut taken = self.state.lock();
        let of_key = taken.by_key.get(key).copied().unwrap_or(0);
        if amount > taken.limit_per_key.saturating_sub(of_key) {
            return Err(LimitReached::OfKey);
        }
        if amount > taken.limit.saturating_sub(taken.total) {
            return Err(LimitReached::OfAll);
        }
        taken.total += amount;
        if amount > 0 {
            taken.by_key.insert(key.clone(), of_key + amount);
        }
        Ok(())
    }
}

impl<K: Eq + Hash> Budget<K> {
    /// How much is taken at present.
    pub fn taken(&self) -> usize {
        self.state.lock().total
    }

    /// Changes the limits. What is taken stays taken, also if that is more than the new limits.
    pub fn set_limits(&self, total: usize, per_key: usize) {
        let mut state = self.state.lock();
        (state.limit, state.limit_per_key) = (total, per_key);
    }

    fn give_back(&self, key: &K, amount: usize) {
        let mut taken = self.state.lock();
        taken.total -= amount;
        if let Some(of_key) = taken.by_key.get_mut(key) {
            *of_key -= amount;
            if *of_key == 0 {
                taken.by_key.remove(key);
            }
        }
    }
}

impl<K: Eq + Hash + Clone> Share<K> {
    /// Takes more, so that the share is at least `amount`. Nothing changes if it fails.
    pub fn grow_to(&mut self, amount: usize) -> Result<(), LimitReached> {
        let more = amount.saturating_sub(self.amount);
        self.budget.try_add(&self.key, more)?;
        self.amount += more;
        Ok(())
    }
}

impl<K: Eq + Hash> Share<K> {
    /// Whose share it is.
    pub const fn key(&self) -> &K {
        &self.key
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        self.budget.give_back(&self.key, self.amount);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_cannot_take_everything() {
        let budget = Budget::new(4, 3);
        let first = budget.take("a", 3).unwrap();
        assert_eq!(budget.take("a", 1).unwrap_err(), LimitReached::OfKey);
        let second = budget.take("b", 1).unwrap();
        assert_eq!(budget.take("b", 1).unwrap_err(), LimitReached::OfAll);
        drop((first, second));
        assert_eq!(budget.taken(), 0);
        assert!(budget.state.lock().by_key.is_empty());
    }

    #[test]
    fn limits_that_become_smaller_take_nothing_away() {
        let budget = Budget::new(4, 4);
        let mut share = budget.take("a", 3).unwrap();
        budget.set_limits(2, 1);
        assert!(share.grow_to(4).is_err() && budget.take("b", 1).is_err());
        drop(share);
        assert!(budget.take("a", 2).is_err() && budget.take("a", 1).is_ok());
    }

    proptest! {
        /// Whatever is taken, grown and returned: the limits hold, and an amount is refused only if it would
        /// break one.
        #[test]
        fn the_limits_hold_and_nothing_else_is_refused(
            total in 0_usize..50, per_key in 0_usize..50,
            steps in prop::collection::vec((0_u8..3, 0_u8..3, 0_usize..40), 0..60),
        ) {
            let budget = Budget::new(total, per_key);
            let mut shares: Vec<Share<u8>> = Vec::new();
            for (step, key, amount) in steps {
                let of = |key: u8, shares: &[Share<u8>]| -> usize {
                    shares.iter().filter(|share| share.key == key).map(|share| share.amount).sum()
                };
                let free = |key: u8, shares: &[Share<u8>]| {
                    let taken: usize = shares.iter().map(|share| share.amount).sum();
                    (total - taken).min(per_key - of(key, shares).min(per_key))
                };
                let n = shares.len();
                match step {
                    0 => {
                        let fits = amount <= free(key, &shares);
                        let share = budget.take(key, amount);
                        prop_assert_eq!(share.is_ok(), fits);
                        shares.extend(share);
                    }
                    1 if n > 0 => {
                        let i = amount % n;
                        let before = shares[i].amount;
                        let fits = amount.saturating_sub(before) <= free(shares[i].key, &shares);
                        prop_assert_eq!(shares[i].grow_to(amount).is_ok(), fits);
                        prop_assert_eq!(shares[i].amount, if fits { before.max(amount) } else { before });
                    }
                    2 if n > 0 => drop(shares.swap_remove(amount % n)),
                    _ => (),
                }
                prop_assert_eq!(budget.taken(), shares.iter().map(|share| share.amount).sum::<usize>());
                prop_assert!(budget.taken() <= total);
                prop_assert!((0..3).all(|key| of(key, &shares) <= per_key));
            }
            drop(shares);
            prop_assert_eq!(budget.taken(), 0);
            prop_assert!(budget.state.lock().by_key.is_empty());
        }
    }
}
