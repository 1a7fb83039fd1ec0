//! Measures how the service grows by processes: speech jobs of three workers beside one ([`mod@shares`]), and many apis and
//! workers on one Postgres, idle and under load ([`mod@many`]).

mod many;
mod shares;

pub(crate) use many::run as many;
pub(crate) use shares::run as shares;
