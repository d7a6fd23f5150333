use std::{
    io::Read,
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

use tokio::runtime::Handle;

use crate::{
    Failure, Library,
    clock::now,
    load::{self, Load},
    run::{Bounds, flush_until},
    wire::{Answer, Command, Open, Start, Wire, read_message},
};

/// Executes rpcbench's commands.
pub struct Control<L> {
    wire: Arc<Wire>,
    handle: Handle,
    /// Set between `open` and `close`.
    load: Option<Arc<dyn Load<L>>>,
    /// Bounds of the run in progress, if any.
    current: Arc<Mutex<Option<Arc<Bounds>>>>,
}

impl<L: Library> Control<L> {
    pub fn new(wire: Wire, handle: Handle) -> Self {
        Self { wire: Arc::new(wire), handle, load: None, current: Arc::default() }
    }

    /// Executes commands until rpcbench closes the socket, and ends the program.
    pub fn obey_until_closed(mut self, mut socket: impl Read) {
        loop {
            match read_message(&mut socket) {
                Ok(Some(text)) => self.obey(&text),
                Ok(None) => process::exit(0),
                Err(error) => {
                    eprintln!("rust-{}: {error}", L::NAME);
                    process::exit(1);
                }
            }
        }
    }

    fn obey(&mut self, text: &[u8]) {
        let received_ns = now();
        let result = serde_json::from_slice(text).map_err(Failure::from).and_then(|command| {
            match &command {
                Command::Start(_) => self.wire.send(&Answer::Ack { of: "start", received_ns }),
                Command::Stop { .. } => self.wire.send(&Answer::Ack { of: "stop", received_ns }),
                Command::Open(_) | Command::Close => {}
            }
            self.execute(&command)
        });
        if let Err(error) = result {
            self.wire.send(&Answer::Failed { error: error.to_string() });
        }
    }

    fn execute(&mut self, command: &Command) -> Result<(), Failure> {
        let running = lock(&self.current).clone();
        match (command, running) {
            (Command::Stop { at_ns }, Some(bounds)) => bounds.stop(*at_ns),
            (Command::Stop { .. }, None) => {}
            (_, Some(_)) => return Err("a load is running; stop it first".into()),
            (Command::Open(open), None) => return self.open(open),
            (Command::Start(start), None) => return self.start(start),
            (Command::Close, None) => self.load = None,
        }
        Ok(())
    }

    fn open(&mut self, open: &Open) -> Result<(), Failure> {
        if self.load.is_some() {
            return Err("connections are open; close them first".into());
        }
        let load = self.handle.block_on(load::open(open))?;
        self.wire.send(&Answer::Opened { connections: load.opened() });
        self.load = Some(load);
        Ok(())
    }

    fn start(&self, start: &Start) -> Result<(), Failure> {
        let load = self.load.clone().ok_or("no connections are open; send 'open' first")?;
        let bounds = Arc::new(Bounds::new(start.at_ns, start.calls));
        let run = load.prepare(start, bounds.clone())?;
        *lock(&self.current) = Some(bounds);
        let (wire, handle, current) =
            (self.wire.clone(), self.handle.clone(), self.current.clone());
        thread::spawn(move || {
            let is_over = AtomicBool::new(false);
            let calls = thread::scope(|scope| {
                scope.spawn(|| flush_until(&wire, || is_over.load(Relaxed)));
                let calls = run(&wire, &handle);
                is_over.store(true, Relaxed);
                calls
            });
            *lock(&current) = None;
            wire.send(&Answer::Stopped { calls });
        });
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
