//! Threads that serve one protocol on a port of the loopback interface.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use rpcbench_record::Protocol;
use rustix::thread::{CpuSet, gettid, sched_setaffinity};

use crate::attend::{Counts, Session, attend};
use crate::connect::CONNECT;
use crate::fault::Faults;
use crate::grpc::Grpc;
use crate::http1::Http1;
use crate::json::JSON;
use crate::rewrite;
use crate::thrift::Thrift;

/// Counts of a server so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls answered, including those with an error status.
    pub calls: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Maximum number of connections open at the same time.
    pub most_open: u64,
}

/// Time used by a thread so far, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTime {
    /// CPU time.
    pub cpu_ns: u64,
    /// Time for which the thread was runnable but had no CPU.
    pub run_delay_ns: u64,
}

#[derive(Debug, Default)]
struct Counters {
    calls: AtomicU64,
    connections: AtomicU64,
    open: AtomicU64,
    most_open: AtomicU64,
}

/// Threads of this process that serve a protocol. They end when this is dropped.
#[derive(Debug)]
pub struct ReferenceServer {
    address: SocketAddr,
    counters: Arc<Counters>,
    threads: Vec<ServingThread>,
    /// Closing this ends the threads.
    stop: Option<UnixStream>,
}

#[derive(Debug)]
struct ServingThread {
    id: u32,
    handle: Option<JoinHandle<io::Result<()>>>,
}

impl ReferenceServer {
    /// The protocols that the server supports.
    pub const PROTOCOLS: [Protocol; 4] =
        [Protocol::Grpc, Protocol::Json, Protocol::Connect, Protocol::Thrift];

    /// Serves `protocol` on a free port, with a thread pinned to each of `cpus`, or one unpinned thread if empty.
    ///
    /// # Errors
    /// If the protocol is not supported, or a system call fails.
    pub fn start(protocol: Protocol, cpus: &[u32]) -> io::Result<Self> {
        Self::serve(protocol, cpus, None)
    }

    /// The same with one thread, and with calls that go wrong.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_faulty(protocol: Protocol, faults: Arc<Faults>) -> io::Result<Self> {
        Self::serve(protocol, &[], Some(faults))
    }

    fn serve(protocol: Protocol, cpus: &[u32], faults: Option<Arc<Faults>>) -> io::Result<Self> {
        if !Self::PROTOCOLS.contains(&protocol) {
            let spoken = Self::PROTOCOLS.map(|it| it.to_string()).join(", ");
            let problem =
                format!("the reference server does not speak {protocol}; it speaks {spoken}");
            return Err(io::Error::other(problem));
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = UnixStream::pair()?;
        let mut server =
            Self { address, counters: Arc::default(), threads: Vec::new(), stop: Some(stop) };
        let pins =
            if cpus.is_empty() { vec![None] } else { cpus.iter().copied().map(Some).collect() };
        let (ids, started) = channel();
        for cpu in pins {
            let serving = Serving {
                protocol,
                cpu,
                listener: listener.try_clone()?,
                stop: stopped.try_clone()?,
                counters: Arc::clone(&server.counters),
                faults: faults.clone(),
            };
            let ids = ids.clone();
            let named = thread::Builder::new().name("reference".to_owned());
            let handle = Some(named.spawn(move || serving.run(&ids))?);
            let id = started.recv().map_err(|_| io::Error::other("a thread did not start"))??;
            server.threads.push(ServingThread { id, handle });
        }
        Ok(server)
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Counts so far.
    pub fn counted(&self) -> Counted {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { calls, connections, most_open, .. } = &*self.counters;
        Counted { calls: read(calls), connections: read(connections), most_open: read(most_open) }
    }

    /// Time used by each thread so far.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub fn usage(&self) -> io::Result<Vec<ThreadTime>> {
        self.threads.iter().map(|thread| thread_time(thread.id)).collect()
    }
}

/// Time used so far by a thread of this process.
///
/// # Errors
/// If the kernel does not report it.
pub fn thread_time(id: u32) -> io::Result<ThreadTime> {
    let text = fs::read_to_string(format!("/proc/self/task/{id}/schedstat"))?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    let times = numbers.next().zip(numbers.next());
    let (cpu_ns, run_delay_ns) =
        times.ok_or_else(|| io::Error::other(format!("schedstat: '{}'", text.trim())))?;
    Ok(ThreadTime { cpu_ns, run_delay_ns })
}

impl Drop for ReferenceServer {
    fn drop(&mut self) {
        self.stop = None;
        for thread in &mut self.threads {
            if let Some(handle) = thread.handle.take() {
                let _ = handle.join();
            }
        }
    }
}

/// What a thread needs to serve.
struct Serving {
    protocol: Protocol,
    cpu: Option<u32>,
    listener: TcpListener,
    stop: UnixStream,
    counters: Arc<Counters>,
    faults: Option<Arc<Faults>>,
}

impl Serving {
    fn run(self, ids: &Sender<io::Result<u32>>) -> io::Result<()> {
        // The starter waits for the id. If it is gone, so is the other end of `stop`.
        let _ = ids.send(self.pin().map(|()| gettid().as_raw_nonzero().get().unsigned_abs()));
        match self.protocol {
            Protocol::Grpc => {
                self.attend(|| Grpc::new(rewrite::protobuf).with_faults(self.faults.clone()))
            }
            Protocol::Json => self.attend(|| Http1::new(&JSON).with_faults(self.faults.clone())),
            Protocol::Connect => {
                self.attend(|| Http1::new(&CONNECT).with_faults(self.faults.clone()))
            }
            Protocol::Thrift => self.attend(|| Thrift::with_faults(self.faults.clone())),
            other => Err(io::Error::other(format!("no reference server speaks {other}"))),
        }
    }

    fn pin(&self) -> io::Result<()> {
        let Some(cpu) = self.cpu else { return Ok(()) };
        let mut cpus = CpuSet::new();
        cpus.set(cpu as usize);
        Ok(sched_setaffinity(None, &cpus)?)
    }

    fn attend<S: Session>(&self, session: impl Fn() -> S) -> io::Result<()> {
        let Counters { calls, connections, open, most_open } = &*self.counters;
        let counts = Counts { calls, connections, open, most_open };
        attend(&self.listener, &self.stop, counts, session)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;

    fn exchange(stream: &mut TcpStream, request: &str, reply: usize) -> String {
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = vec![0; reply];
        stream.read_exact(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn server_counts_calls_and_connections_and_reports_its_threads() {
        let server = ReferenceServer::start(Protocol::Json, &[]).unwrap();
        let body = r#"{"text":"abc"}"#;
        let head = "POST /rpcbench.v1.Echo/Text HTTP/1.1\r\nContent-Length: 14\r\n\r\n";
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"echo\":\"abc\"}";
        let mut streams = Vec::new();
        for connections in 1..=4 {
            if connections == 4 {
                streams.clear();
            }
            let mut stream = TcpStream::connect(server.address()).unwrap();
            for call in 1..=2 {
                let reply = exchange(&mut stream, &format!("{head}{body}"), expected.len());
                assert_eq!(reply, expected);
                let (calls, most_open) = ((connections - 1) * 2 + call, connections.min(3));
                assert_eq!(server.counted(), Counted { calls, connections, most_open });
            }
            streams.push(stream);
        }
        let usage = server.usage().unwrap();
        assert!(usage.len() == 1 && usage[0].cpu_ns > 0, "{usage:?}");
    }

    #[test]
    fn unknown_protocol_is_refused() {
        let refused = ReferenceServer::start(Protocol::JsonH2c, &[]).unwrap_err().to_string();
        assert_eq!(
            refused,
            "the reference server does not speak json-h2c; it speaks grpc, json, connect, thrift"
        );
    }
}
