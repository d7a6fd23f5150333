//! Views of runs made by hand.

mod builder;
mod changes;
mod clients;
mod derived;
mod doubts;
mod exports;
mod foreign;
mod history;
mod html;
mod left_out;
mod lives;
mod load;
mod load_curve;
mod load_verdicts;
mod open;
mod price;
mod render;
mod response_times;
mod runtime;
mod slices;
mod spread;
mod text;
mod verdicts;
