//! Runs the testkit's behaviours as a server under test.

mod outside;

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use rpcbench_testkit::{
    Behaviour, Channel, End, Ended, FORMS, Plan, Records, Server, TlsFlaw, process_cpu,
    raise_file_limit, tls_config, work_without_rest,
};
use tokio::signal::unix::{SignalKind, signal};

/// A server that misbehaves on purpose
#[derive(Parser)]
#[command(version, after_help = behaviours())]
struct Arguments {
    /// Address to listen on
    #[arg(long, env = "RPCBENCH_HOST", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, env = "RPCBENCH_PORT", default_value_t = 0)]
    port: u16,
    /// How to behave; may be repeated if the behaviours do not exclude each other
    #[arg(long, default_value = "honest")]
    behaviour: Vec<Behaviour>,
    /// Channel on standard input and output over which another process passes connections on
    #[arg(long)]
    over: Option<Channel>,
    /// Certificate of a server with TLS; it has none without
    #[arg(long, env = "RPCBENCH_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its key
    #[arg(long, env = "RPCBENCH_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// What it does wrong with TLS
    #[arg(long)]
    tls_flaw: Option<TlsFlaw>,
    /// How a null server cuts replies into records of TLS
    #[arg(long, value_name = "FORM", default_value = "shared", requires = "tls_cert")]
    tls_records: Records,
    /// Print the address on stdout
    #[arg(long)]
    print_address: bool,
}

fn behaviours() -> String {
    let lines = FORMS.iter().map(|form| format!("  {:27} {}\n", form.form, form.meaning));
    format!("Behaviours:\n{}", lines.collect::<String>())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "rpcbench-testkit: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let plan = Plan::new(&arguments.behaviour)?;
    if let Some(code) = plan.exit_at_start() {
        writeln!(
            io::stderr(),
            "rpcbench-testkit: starting\nrpcbench-testkit: exits on purpose with code {code}"
        )?;
        return Ok(ExitCode::from(code));
    }
    if plan.restless {
        std::thread::spawn(work_without_rest);
    }
    if plan.spawn_child {
        let child = std::process::Command::new("sleep").arg("600").spawn()?;
        writeln!(io::stderr(), "rpcbench-testkit: started child {}", child.id())?;
    }
    match plan.leave_group {
        Some(Duration::ZERO) => outside::leave_group()?,
        Some(after) => drop(std::thread::spawn(move || {
            std::thread::park_timeout(after);
            outside::leave_group()
        })),
        None => {}
    }
    if plan.leave_partly {
        outside::leave_partly()?;
    }
    if let Some(channel) = plan.proxy {
        let listener = TcpListener::bind(SocketAddr::new(arguments.host, arguments.port))?;
        channel.pass_on(&listener, outside::start(plan.protocol, channel)?)?;
    }
    raise_file_limit()?;
    // Single-threaded, so that only the server's own thread works.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(serve(arguments, plan))
}

async fn serve(arguments: &Arguments, plan: Plan) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (counting, ignore_sigterm) = (plan.counting, plan.ignore_sigterm);
    let leave_under_load = plan.leave_under_load;
    let address = SocketAddr::new(arguments.host, arguments.port);
    let mut server = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => {
            let config = tls_config((certificate, key), plan.spoken(), arguments.tls_flaw)?;
            Server::start_secure(address, plan, config, arguments.tls_records)?
        }
        _ => Server::start_at(address, plan)?,
    };
    if leave_under_load {
        outside::leave_under_load(server.call_counter())?;
    }
    if let Some(channel) = arguments.over {
        channel.serve(End::of_this_process()?, server.address())?;
    }
    if arguments.print_address {
        writeln!(io::stdout(), "{}", server.address())?;
    }
    let ended = loop {
        tokio::select! {
            ended = server.ended() => break Some(ended),
            _ = terminate.recv() => {
                if !ignore_sigterm {
                    break None;
                }
                writeln!(io::stderr(), "rpcbench-testkit: ignores SIGTERM")?;
            }
            _ = interrupt.recv() => break None,
        }
    };
    let calls = server.calls();
    if counting {
        let cpu = process_cpu();
        let (user, system) = (cpu.user.as_nanos(), cpu.system.as_nanos());
        writeln!(
            io::stdout(),
            r#"{{"calls":{calls},"cpu_user_ns":{user},"cpu_system_ns":{system}}}"#
        )?;
    }
    conclude(ended.unwrap_or_else(|| server.stop()))
}

fn conclude(ended: Ended) -> Result<ExitCode, Box<dyn std::error::Error>> {
    match ended {
        Ended::Stopped => Ok(ExitCode::SUCCESS),
        Ended::Exited { code, line } => {
            writeln!(io::stderr(), "{line}")?;
            Ok(ExitCode::from(code))
        }
        Ended::Failed { reason } => Err(reason.into()),
    }
}
