//! Fields that are parsed together: those of a form, or the parameters of a query string.

use super::{
    field::{AnyField, FieldDescription, Slot},
    values::Values,
};
use crate::problems::Violation;

/// Fields that are parsed together. The macro [`fields`] defines them.
pub(crate) trait Fields: Sized {
    /// The name of their schema.
    const NAME: &'static str;
    /// The lines of their description.
    const TEXT: &'static [&'static str];
    /// All fields.
    const ALL: &'static [&'static dyn AnyField];

    /// Takes the values of all fields.
    fn take(values: &mut Values) -> Self;

    /// What a request may have.
    fn slots() -> Vec<Slot> {
        Self::ALL.iter().map(|field| field.slot()).collect()
    }

    /// The fields that the OpenAPI document has.
    fn described() -> impl Iterator<Item = FieldDescription> {
        Self::ALL.iter().filter_map(|field| field.describe())
    }

    /// The example of a violation.
    fn violation() -> Vec<Violation> {
        Self::ALL.iter().find_map(|field| field.violation()).into_iter().collect()
    }
}

/// Defines a struct of fields. Each has the type of its value, which is `None` if the request has none or it is not valid,
/// and a [`Field`](super::field::Field). The doc comments are the descriptions in the OpenAPI document, which can name the
/// struct as the parameters of a query string.
macro_rules! fields {
    (
        $(#[doc = $about:literal])+
        $name:ident {
            $($(#[doc = $text:literal])* $field:ident: $value:ty = $described:expr,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug)]
        pub(crate) struct $name {
            $($(#[doc = $text])* $field: Option<$value>,)+
        }

        impl utoipa::IntoParams for $name {
            fn into_params(
                _: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
            ) -> Vec<utoipa::openapi::path::Parameter> {
                use $crate::input::{field::FieldDescription, fields::Fields};
                Self::described().map(FieldDescription::parameter).collect()
            }
        }

        impl $crate::input::fields::Fields for $name {
            const NAME: &'static str = stringify!($name);
            const TEXT: &'static [&'static str] = &[$($about),+];
            const ALL: &'static [&'static dyn $crate::input::field::AnyField] = &[$({
                const FIELD: $crate::input::field::Field<$value> = $described.text(&[$($text),*]);
                &FIELD
            }),+];

            fn take(values: &mut $crate::input::values::Values) -> Self {
                Self { $($field: values.take(&$described)),+ }
            }
        }
    };
}
pub(crate) use fields;
