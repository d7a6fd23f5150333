//! The testkit's servers, as their clients see them.

mod answers;
mod channels;
mod client;
mod faults;
mod manifest;
mod null;
mod process;
mod scripted;
mod thrift;
