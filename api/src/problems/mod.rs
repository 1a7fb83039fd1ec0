//! Errors as callers meet them (RFC 9457): a type and its violations come in, problem+json goes out.

pub(crate) mod page;
mod problem;
mod problem_type;
pub(crate) mod responses;
mod violation;

pub(crate) use self::{
    problem::Problem,
    problem_type::ProblemType,
    violation::{Code, Violation},
};
