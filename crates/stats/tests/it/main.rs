//! Statistics on made-up and simulated figures.

mod between_runs_simulated;
mod compare;
mod compare_simulated;
mod drift;
mod figures;
mod histogram;
mod noise;
mod steady;
