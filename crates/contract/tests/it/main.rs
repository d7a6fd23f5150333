//! The contract, its documents and its checker.

mod check;
mod client_corpus;
mod corpus;
mod generated;
mod openapi;
mod readme;
mod spot_checks;
mod unseen;
