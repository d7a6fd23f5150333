//! Servers that do nothing, on no machine.

use std::net::SocketAddr;

use rpcbench_harness::placement::{
    Counters, CpuReading, Endpoint, Machine, MachineReading, Placement, PlacementError, Running,
};
use rpcbench_record::{Isolation, IsolationMode, MachineUsage};

use super::Log;

fn isolation() -> Isolation {
    Isolation {
        mode: IsolationMode::Affinity,
        server_cpus: Vec::new(),
        client_cpus: Vec::new(),
        memory_bytes: None,
        notes: Vec::new(),
    }
}

/// A place on no machine.
pub struct ScriptedPlacement {
    pub entry: &'static str,
    pub log: Log,
}

impl Placement for ScriptedPlacement {
    fn isolation(&self) -> Isolation {
        isolation()
    }

    fn start(&self) -> Result<Box<dyn Running>, PlacementError> {
        self.log.add(self.entry, "starts");
        let address: SocketAddr = "192.0.2.1:1".parse().expect("an address");
        let endpoint = Endpoint { authority: self.entry.to_owned(), ..address.into() };
        Ok(Box::new(ScriptedServer { endpoint, log: self.log.clone(), machine: IdleMachine }))
    }
}

struct ScriptedServer {
    endpoint: Endpoint,
    log: Log,
    machine: IdleMachine,
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

    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError> {
        Ok(None)
    }

    fn sample(&mut self) -> Result<Option<Counters>, PlacementError> {
        Ok(Some(Counters::default()))
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

/// A machine on which nothing else happens.
struct IdleMachine;

impl Machine for IdleMachine {
    fn start_reference(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    fn sample(&mut self) -> Result<MachineReading, PlacementError> {
        Ok(MachineReading::default())
    }

    fn usage(
        &mut self,
        first: &MachineReading,
        last: &MachineReading,
    ) -> Result<MachineUsage, PlacementError> {
        Ok(MachineUsage { rivals: 3, ..last.since(first) })
    }
}
