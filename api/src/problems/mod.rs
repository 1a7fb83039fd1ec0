//! The errors that callers get: problem documents (RFC 9457), their types, their pages and their OpenAPI
//! descriptions.

mod openai;
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
