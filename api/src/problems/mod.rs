//! The errors that callers get: problem documents (RFC 9457), their types and their OpenAPI descriptions.

mod openai;
mod problem;
mod problem_type;
pub(crate) mod responses;
mod violation;

pub(crate) use self::{
    problem::{Problem, Reason},
    problem_type::ProblemType,
    violation::{Code, Violation},
};
