//! Schemas of services, and messages that they describe.

mod common;
mod expect;
mod files;
mod foreign;
mod json;
mod messages;
mod random;
mod reflection;
