//! Views of runs made by hand.

mod builder;
mod doubts;
mod exports;
mod load;
mod text;
mod verdicts;
