//! Rows as parameters of statements, and values of rows that cannot be read.

/// An array parameter of a statement: the value of `of` for each item, in order.
pub(super) fn column<'a, I, T>(items: &'a [I], of: impl Fn(&'a I) -> T) -> Vec<T> {
    items.iter().map(of).collect()
}

/// An array parameter like that of [`column`], or none if each value would be none: `select unnest($1), unnest($2)` gives nulls for it, and
/// no array is sent and read.
pub(super) fn rare_column<'a, I, T>(
    items: &'a [I],
    of: impl Fn(&'a I) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    items.iter().any(|item| of(item).is_some()).then(|| column(items, of))
}

/// A query over sets of rows that are sent as arrays. Each column stands with the position of its array, its name, its type and its
/// values, one for each row; an array of [`rare_column`] may be null. The statement begins with one common table expression for each
/// set, and binds go on after the last position.
macro_rules! query_over {
    (
        $query:ident,
        $($set:ident {
            $first:literal $first_name:ident $first_type:ident = $first_values:expr;
            $($n:literal $name:ident $type:ident = $values:expr;)*
            $(computed $computed:literal)?
        })+
        $(, $sql:expr)+ $(,)?
    ) => {
        sqlx::$query(concat!(
            "with ",
            $(
                stringify!($set), " as (select unnest($", $first, "::", stringify!($first_type), "[]) as ", stringify!($first_name),
                $(", unnest($", $n, "::", stringify!($type), "[]) as ", stringify!($name),)*
                $(", ", $computed,)?
                "), ",
            )+
            $($sql),+
        ))
        $(.bind($first_values)$(.bind($values))*)+
    };
}
pub(super) use query_over;

/// The error for a stored value that this version does not know, such as an operation of a newer version.
pub(super) fn unreadable(what: &str, value: impl std::fmt::Display) -> sqlx::Error {
    sqlx::Error::Decode(
        format!(
            "unknown {what} {value:?} in the database; a newer version of akhar may have written it",
            value = value.to_string()
        )
        .into(),
    )
}
