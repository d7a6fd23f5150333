//! Views of runs made by hand.

mod builder;
mod derived;
mod doubts;
mod exports;
mod load;
mod open;
mod spread;
mod text;
mod verdicts;
