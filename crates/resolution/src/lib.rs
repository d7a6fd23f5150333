//! Which differences runs tell on this machine: real runs of servers whose differences are known.
//!
//! `design` says what is run and what must come out, `judge` reads a run's record, `change` one beside another,
//! `noise` says what each part of the model took away, and `render` makes tables of all of them.

pub mod change;
pub mod design;
pub mod judge;
pub mod noise;
pub mod render;
pub mod results;
