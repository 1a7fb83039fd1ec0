//! Options that take one of the names which requests have for something.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A parser of the names of `all`.
pub(crate) fn named<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.map(name));
    names.try_map(move |given| all.into_iter().find(|&one| name(one) == given).ok_or("no such name"))
}
