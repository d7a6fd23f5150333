//! Servers that do nothing, on no machine.

use std::net::SocketAddr;
use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_engine::{TlsClient, TlsSettings, Trust};
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::placement::{
    Counters, CpuReading, CpuTime, Endpoint, Freezer, Machine, MachineReading, Placement,
    PlacementError, Running,
};
use rpcbench_record::{Isolation, IsolationMode, MachineUsage, TlsMode};

use super::Log;
use super::load::{COMPILES, LATE_TLS, STARVED, compiling};

/// An entry whose processes can start before they are needed.
pub const EARLY: &str = "early";
/// What the names of entries begin with that can be frozen.
pub const FREEZES: &str = "freezes";
/// An entry whose servers end at a time after the first has started.
pub const ENDS: (&str, Nanos) = ("ends", Nanos::from_millis(9000));
/// What the names of entries end with whose servers end while they are measured, and when.
const ENDS_LATE: (&str, Nanos) = ("ends late", Nanos::from_millis(70_000));
/// How long a server takes to start.
const START: Nanos = Nanos::from_millis(1000);

fn isolation() -> Isolation {
    Isolation {
        mode: IsolationMode::Affinity,
        server_cpus: Vec::new(),
        client_cpus: Vec::new(),
        memory_bytes: None,
        details: Default::default(),
        notes: Vec::new(),
    }
}

/// A place on no machine.
pub struct ScriptedPlacement {
    pub entry: &'static str,
    pub log: Log,
    pub interrupt: Interrupt,
    /// Servers for which there is memory.
    pub room: usize,
}

impl Placement for ScriptedPlacement {
    fn isolation(&self) -> Isolation {
        isolation()
    }

    fn has_room(&self) -> bool {
        let count = |what| self.log.lines().iter().filter(|line| line.ends_with(what)).count();
        count("starts") - count("stops") < self.room
    }

    fn start(&self, _: u32, _: TlsMode) -> Result<Box<dyn Running>, PlacementError> {
        self.log.add(self.entry, "starts");
        self.interrupt.wait_until(self.interrupt.now() + START).expect("no Ctrl-C");
        Ok(self.server(false))
    }

    fn start_early(&self, _: u32, _: TlsMode) -> Option<Box<dyn Running>> {
        (self.entry == EARLY).then(|| {
            self.log.add(self.entry, "waits, starts");
            self.server(true)
        })
    }
}

impl ScriptedPlacement {
    fn server(&self, is_away: bool) -> Box<dyn Running> {
        let address: SocketAddr = "192.0.2.1:1".parse().expect("an address");
        let tls = (self.entry == LATE_TLS).then(tls_client);
        let endpoint = Endpoint { authority: self.entry.to_owned(), tls, ..address.into() };
        let (log, interrupt) = (self.log.clone(), self.interrupt.clone());
        let others = u64::from([STARVED, LATE_TLS].contains(&self.entry));
        let machine = ScriptedMachine { interrupt: interrupt.clone(), others };
        Box::new(ScriptedServer { endpoint, log, machine, interrupt, is_away })
    }
}

fn tls_client() -> TlsClient {
    let settings = TlsSettings::new("localhost", Trust::Anyone, "a test's authority");
    TlsClient::new(settings).expect("settings")
}

struct ScriptedServer {
    endpoint: Endpoint,
    log: Log,
    machine: ScriptedMachine,
    interrupt: Interrupt,
    is_away: bool,
}

impl Running for ScriptedServer {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn isolation(&self) -> Isolation {
        isolation()
    }

    fn machine(&mut self) -> &mut dyn Machine {
        &mut self.machine
    }

    fn pin_to_server_cpus(&mut self) -> Result<(), PlacementError> {
        if std::mem::take(&mut self.is_away) {
            self.log.add(&self.endpoint.authority, "takes its place");
        }
        Ok(())
    }

    fn add_spare_cpu(&mut self) -> Result<(), PlacementError> {
        if self.endpoint.authority == COMPILES {
            self.log.add(COMPILES, "spreads");
            self.is_away = true;
        }
        Ok(())
    }

    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError> {
        // It is always busy.
        let cpu_ns = self.interrupt.now().0;
        let busy = compiling(&self.endpoint.authority);
        let compiler_ns = (Nanos(cpu_ns).min(busy.end) - busy.start).0 / 2;
        Ok(Some(CpuReading { cpu_ns, compiler_ns }))
    }

    fn sample(&mut self) -> Result<Option<Counters>, PlacementError> {
        let at = self.interrupt.now();
        let cpu = CpuTime { total_ns: at.0, ..CpuTime::default() };
        Ok(Some(Counters { at, cpu, ..Counters::default() }))
    }

    fn ended(&mut self, _: Duration) -> Result<Option<String>, PlacementError> {
        let end = match &*self.endpoint.authority {
            entry if entry == ENDS.0 => ENDS.1,
            entry if entry.ends_with(ENDS_LATE.0) => ENDS_LATE.1,
            _ => Nanos::NEVER,
        };
        Ok((self.interrupt.now() >= end).then(|| "ended".to_owned()))
    }

    fn served_by_others(&mut self) -> Result<Option<String>, PlacementError> {
        if self.freezer().is_some() {
            self.log.add(&self.endpoint.authority, "has its port checked");
        }
        Ok(None)
    }

    fn freezer(&self) -> Option<Freezer> {
        self.endpoint.authority.starts_with(FREEZES).then_some(Freezer::Cgroup)
    }

    fn freeze(&mut self) -> Result<(), PlacementError> {
        self.log.add(&self.endpoint.authority, "freezes");
        Ok(())
    }

    fn wake(&mut self) -> Result<(), PlacementError> {
        self.log.add(&self.endpoint.authority, "wakes");
        Ok(())
    }

    fn stop(self: Box<Self>) -> Result<(), PlacementError> {
        self.log.add(&self.endpoint.authority, "stops");
        Ok(())
    }
}

/// A machine of which this many other programs get as much CPU time as the server.
struct ScriptedMachine {
    interrupt: Interrupt,
    others: u64,
}

impl Machine for ScriptedMachine {
    fn start_reference(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    fn sample(&mut self) -> Result<MachineReading, PlacementError> {
        let busy = self.interrupt.now().0 * (1 + self.others);
        Ok(MachineReading { server_busy_ns: Some(busy), ..MachineReading::default() })
    }

    fn usage(
        &mut self,
        first: &MachineReading,
        last: &MachineReading,
    ) -> Result<MachineUsage, PlacementError> {
        Ok(MachineUsage { rivals: 3, ..last.since(first) })
    }
}
