//! Figures that do not depend on the machine, in place of those that a run measured.

use std::fs;
use std::path::Path;

use rpcbench_record::{
    ClientUsage, Event, MachineUsage, Measured, ServerUsage, Trial, TrialResult, Writer, read,
};

/// Gives each window of a record the CPU time of its calls, `cost` nanoseconds each, and a client and a machine that leave it
/// undisturbed. Every second window costs 1 % more, and the others 1 % less.
pub fn script(folder: &Path, cost: impl Fn(&Trial) -> f64) {
    let run = read(folder).unwrap();
    fs::remove_file(folder.join("events.jsonl")).unwrap();
    let mut writer = Writer::resume(folder).unwrap();
    for preparation in run.preparations {
        writer.append(&Event::Prepared(Box::new(preparation))).unwrap();
    }
    for mut trial in run.trials {
        let is_odd = (trial.number + trial.process) % 2 == 1;
        let cost = cost(&trial) * if is_odd { 1.01 } else { 0.99 };
        match &mut trial.result {
            TrialResult::Measured(measured) => *measured = scripted(measured, cost).into(),
            TrialResult::Failed(failure) => panic!("{failure:?}"),
        }
        writer.append(&Event::Trial(Box::new(trial))).unwrap();
    }
    writer.append(&Event::Finished { at: run.finished.expect("an end") }).unwrap();
}

fn scripted(measured: &Measured, cost: f64) -> Measured {
    let cpu_user_ns = (measured.ok_pro_rata * cost) as u64;
    let usage = |usage: &ServerUsage| ServerUsage {
        interval_ns: measured.window_ns,
        cpu_user_ns,
        cpu_system_ns: 0,
        compiler_cpu_ns: 0,
        ..*usage
    };
    Measured {
        server: measured.server.as_ref().map(usage),
        client: ClientUsage { threads: measured.client.threads, ..ClientUsage::default() },
        machine: MachineUsage::default(),
        ..measured.clone()
    }
}
