//! What several commands need: before they can start, and to show what they found.

use std::io::Write as _;
use std::thread;

use anyhow::Context as _;
use rpcbench_harness::cpus::{Topology, pin_this_thread};
use rpcbench_harness::isolation::Isolation;
use rpcbench_harness::machine::fingerprint;
use rpcbench_harness::placement::Native;
use rpcbench_harness::run::{Environment, Interrupt, Raised};
use rpcbench_record::{Limits, Machine};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::context::Context;

/// Ctrl-C and SIGTERM: the first does what `first` says, the second stops now, and where nothing heeds it any more, the
/// program ends. Servers that were started here die with it, and files are whole or not there.
#[expect(clippy::exit, reason = "the main thread is where nothing heeds signals")]
pub fn listen(interrupt: Interrupt, first: &'static str) -> anyhow::Result<Interrupt> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("signal handlers")?;
    let told = interrupt.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            match told.raise() {
                Raised::First => anstream::eprintln!("\nrpcbench: {first}; once more to stop now"),
                Raised::Second => {
                    anstream::eprintln!("\nrpcbench: stopping now; once more to wait for nothing");
                }
                Raised::Unheeded => {
                    anstream::eprintln!("\nrpcbench: ended before everything was written");
                    std::process::exit(2);
                }
            }
        }
    });
    Ok(interrupt)
}

/// Writes a result to standard output.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("standard output")
}

/// What the first Ctrl-C does to a run.
pub const AFTER_THIS_TRIAL: &str = "stopping after this trial";

/// This machine as the place of servers and client.
pub struct ThisMachine {
    pub native: Native,
    pub topology: Topology,
}

impl ThisMachine {
    /// The client that loads servers here.
    pub fn environment(&self, seed: u64, interrupt: Interrupt) -> Environment {
        let client_cpus = self.native.split.client.clone();
        Environment { client_cpus, pinned: true, seed, interrupt, call_log: None }
    }

    /// What the record says about it.
    pub fn fingerprint(&self) -> Machine {
        fingerprint(&self.topology, self.native.isolation.mode())
    }
}

/// This machine, divided between server and client. This thread, and every thread that it starts, stays off the server's
/// CPUs, and off those of the load threads where there are others; load threads go to theirs by themselves.
pub fn this_machine(
    context: &Context,
    limits: Limits,
    client_threads: u32,
) -> anyhow::Result<ThisMachine> {
    let topology = Topology::read().context("CPUs that this process may use")?;
    let isolation = Isolation::detect(&topology.cpus());
    for folder in isolation.sweep() {
        anstream::eprintln!(
            "rpcbench: removed {}, left by a run that was killed",
            folder.display()
        );
    }
    let split = topology.split(limits.cpus, client_threads);
    pin_this_thread(split.rest()).context("CPU affinity of the client")?;
    let logs = context.root()?.join("build/logs");
    std::fs::create_dir_all(&logs).with_context(|| logs.display().to_string())?;
    let base_env = context.base_env.clone();
    let native = Native { isolation, split, limits, base_env, logs };
    Ok(ThisMachine { native, topology })
}
