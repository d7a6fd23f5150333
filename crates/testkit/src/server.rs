//! A server on its own thread.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use rustls::ServerConfig;
use tokio::net::TcpSocket;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use crate::cost::MemoryHog;
use crate::plan::{Opening, Plan};
use crate::serve::Counters;
use crate::tls::{Records, Secured, relay_tls};
use crate::{Behaviour, null, serve};

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    counters: Arc<Counters>,
    /// Dropping this stops the server, which sees the end of the stream.
    running: Option<UnixStream>,
    ended: oneshot::Receiver<Ended>,
    thread: Option<JoinHandle<()>>,
}

/// How a server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was stopped.
    Stopped,
    /// Its behaviour asks the process to write this line and to exit with this code.
    Exited {
        /// The exit code.
        code: u8,
        /// The line for stderr.
        line: String,
    },
    /// It failed.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// The port of a server: bound, and listening unless the plan says otherwise.
enum Port {
    Listening(TcpListener),
    Taken(TcpSocket),
}

impl Port {
    fn open(address: SocketAddr, opening: Opening) -> io::Result<Self> {
        let listen = |source: io::Error| {
            let problem = format!("cannot listen on {address}: {source}; is the port in use?");
            io::Error::new(source.kind(), problem)
        };
        if opening == Opening::NoListen {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            socket.bind(address).map_err(listen)?;
            return Ok(Self::Taken(socket));
        }
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true)?;
        Ok(Self::Listening(listener))
    }

    fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Listening(listener) => listener.local_addr(),
            Self::Taken(socket) => socket.local_addr(),
        }
    }
}

impl Server {
    /// Starts a server with one behaviour on a free port of 127.0.0.1. The server accepts connections when this returns.
    pub fn start(behaviour: Behaviour) -> io::Result<Self> {
        let behaviours = [behaviour];
        let plan = Plan::new(&behaviours).map_err(io::Error::other)?;
        if behaviours.iter().any(Behaviour::needs_process) {
            let [behaviour] = behaviours;
            return Err(io::Error::other(format!(
                "`{behaviour}` needs a separate process: run `rpcbench-testkit --behaviour {behaviour}`"
            )));
        }
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), plan)
    }

    /// Starts a server at `address` (port 0 for a free one). The caller handles the plan's signals, child process and exit at
    /// start.
    pub fn start_at(address: SocketAddr, plan: Plan) -> io::Result<Self> {
        let mut hog = MemoryHog::default();
        hog.take(plan.memory_at_start);
        let port = Port::open(address, plan.opening)?;
        let address = port.address()?;
        let counters = Arc::new(Counters::default());
        let (running, stop) = UnixStream::pair()?;
        let (end, ended) = oneshot::channel();
        let shared = Arc::clone(&counters);
        let thread =
            std::thread::Builder::new().name("testkit-server".to_owned()).spawn(move || {
                let _kept = hog;
                let outcome = run(port, &plan, shared, stop);
                // The receiver may be gone.
                let _ = end.send(
                    outcome.unwrap_or_else(|error| Ended::Failed { reason: error.to_string() }),
                );
            })?;
        Ok(Self { address, counters, running: Some(running), ended, thread: Some(thread) })
    }

    /// Starts a server with TLS at `address` (port 0 for a free one). Null servers do TLS themselves; others are behind a relay,
    /// which can't cut replies.
    pub fn start_secure(
        address: SocketAddr,
        mut plan: Plan,
        config: ServerConfig,
        records: Records,
    ) -> io::Result<Self> {
        if plan.least_work().is_some() {
            plan.tls = Some(Secured { config: Arc::new(config), records });
            return Self::start_at(address, plan);
        }
        if records == Records::PerReply {
            let problem = "only null servers can send a record for each reply, such as `null`";
            return Err(io::Error::other(problem));
        }
        let listener = TcpListener::bind(address)?;
        let mut server = Self::start_at(SocketAddr::new(address.ip(), 0), plan)?;
        let within = std::mem::replace(&mut server.address, listener.local_addr()?);
        relay_tls(listener, config, within);
        Ok(server)
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Calls accepted so far. Their requests are complete, and they are answered or about to be.
    pub fn calls(&self) -> u64 {
        self.counters.calls.load(Ordering::Relaxed)
    }

    /// Returns a function that counts calls, for use on another thread.
    pub fn call_counter(&self) -> impl Fn() -> u64 + Send + use<> {
        let counters = Arc::clone(&self.counters);
        move || counters.calls.load(Ordering::Relaxed)
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> u64 {
        self.counters.connections.load(Ordering::Relaxed)
    }

    /// Calls answered from memory so far.
    pub fn recalled(&self) -> u64 {
        self.counters.recalled.load(Ordering::Relaxed)
    }

    /// Waits until the server ends on its own. Cancel safe. Must not be awaited again after it has returned.
    pub async fn ended(&mut self) -> Ended {
        (&mut self.ended).await.unwrap_or_else(|_| panicked())
    }

    /// Stops the server, closes its sockets and returns how it ended.
    pub fn stop(mut self) -> Ended {
        self.shut_down();
        self.ended.try_recv().unwrap_or_else(|_| panicked())
    }

    fn shut_down(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take() {
            // A panic shows as `Ended::Failed`.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shut_down();
    }
}

fn panicked() -> Ended {
    Ended::Failed { reason: "the server's thread panicked".to_owned() }
}

fn run(
    port: Port,
    plan: &Plan,
    counters: Arc<Counters>,
    mut stop: UnixStream,
) -> io::Result<Ended> {
    match port {
        Port::Taken(_socket) => {
            stop.read_exact(&mut [0]).or_else(expect_end)?;
            Ok(Ended::Stopped)
        }
        Port::Listening(listener) => match plan.least_work() {
            Some(protocol) => {
                null::serve(protocol, plan.tls.as_ref(), &listener, &stop, &counters)?;
                Ok(Ended::Stopped)
            }
            None => run_async(listener, plan, counters, stop),
        },
    }
}

fn expect_end(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::UnexpectedEof { Ok(()) } else { Err(error) }
}

fn run_async(
    listener: TcpListener,
    plan: &Plan,
    counters: Arc<Counters>,
    stop: UnixStream,
) -> io::Result<Ended> {
    stop.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    LocalSet::new().block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let stop = tokio::net::UnixStream::from_std(stop)?;
        tokio::select! {
            biased;
            readable = stop.readable() => readable.map(|()| Ended::Stopped),
            served = serve::serve(listener, plan, counters) => served.map(|()| exit_line(plan)),
        }
    })
}

fn exit_line(plan: &Plan) -> Ended {
    let calls = plan.fault.map_or(0, |fault| fault.calls);
    Ended::Exited {
        code: 3,
        line: format!("rpcbench-testkit: exits on purpose after {calls} calls"),
    }
}
