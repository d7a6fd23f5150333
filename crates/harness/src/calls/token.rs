//! Tokens printed by a command, before a load and repeatedly during it.

use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clap::Args;
use rpcbench_engine::Renewal;
use rpcbench_record::{CallHeader, LaterSecrets, printable, units};

use super::CallPayload;
use crate::config::{ConfigError, NonZeroLength};
use crate::interrupt::Interrupt;
use crate::task::{Output, Task};

/// Time limit of a command.
const LIMIT: Duration = Duration::from_secs(30);
/// Default interval of renewals.
const EVERY: Duration = Duration::from_secs(600);
/// Maximum characters shown of a failing command's error output.
const MAX_SAID: usize = 200;

/// Where tokens come from, as typed.
#[derive(Args, Clone, Debug, Default)]
pub struct TokenSpec {
    /// Shell command that prints a token, such as 'gcloud auth print-access-token': calls carry 'authorization: Bearer TOKEN'. It
    /// runs before the load, and again each --token-every; the record omits command and token
    #[arg(long, value_name = "COMMAND")]
    pub token_command: Option<String>,
    /// How often --token-command runs [default: 10m]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub token_every: Option<NonZeroLength>,
}

impl TokenSpec {
    /// Runs the command and returns the header with its token. `None` without a command. Ctrl-C stops the command.
    pub(super) fn header(&self, interrupt: &Interrupt) -> Result<Option<CallHeader>, ConfigError> {
        let Some(command) = &self.token_command else {
            let problem = "there is no token to renew; give --token-command, too";
            let stray = self.token_every.map(|_| ConfigError::value("--token-every", problem));
            return stray.map_or(Ok(None), Err);
        };
        let header = fetch(command, || interrupt.check().is_ok()).map(Some);
        header.map_err(|problem| ConfigError::value("--token-command", problem))
    }

    fn every(&self) -> Duration {
        self.token_every.map_or(EVERY, |every| Duration::from_millis(every.ms()))
    }
}

/// Runs a command while `keep_waiting` returns true, and returns a header with the token that it prints.
fn fetch(command: &str, keep_waiting: impl FnMut() -> bool) -> Result<CallHeader, String> {
    let task = Task::ask(Command::new("sh").args(["-c", command]));
    let ended = task.and_then(|task| task.output(LIMIT, keep_waiting));
    let limit = || format!("it has not ended after {}", units::length(LIMIT));
    let Output { out, err, success } =
        ended.map_err(|error| format!("can't be run: {error}"))?.ok_or_else(limit)?;
    if !success {
        let said: String = printable(err.trim()).chars().take(MAX_SAID).collect();
        return Err(match said.is_empty() {
            true => "it failed, and said nothing on standard error".to_owned(),
            false => format!("it failed: {said}"),
        });
    }
    match out.trim() {
        "" => Err("it printed no token on standard output".to_owned()),
        // Omit the parse error: it may contain the token.
        token => format!("authorization: Bearer {token}").parse().map_err(|_| {
            "its output is not a token; expected one line of printable ASCII".to_owned()
        }),
    }
}

/// Renews the token of a load's calls on its own thread until it is dropped.
#[derive(Debug)]
pub(crate) struct Renewer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    failed: Arc<Mutex<Failed>>,
}

/// Renewals that failed.
#[derive(Debug, Default)]
struct Failed {
    times: u32,
    last: String,
}

impl Renewer {
    /// Starts renewing, if `spec` has a command. `payload` has the first token; later ones are added to `secrets`.
    pub fn start(spec: &TokenSpec, payload: &CallPayload, secrets: LaterSecrets) -> Option<Self> {
        let (command, every) = (spec.token_command.clone()?, spec.every());
        let (renewal, payload) = (payload.renewal.clone()?, payload.clone());
        let (stop, stopped) = channel();
        let failed = Arc::default();
        let theirs = Arc::clone(&failed);
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let is_wanted = || stopped.try_recv() == Err(TryRecvError::Empty);
                match fetch(&command, is_wanted) {
                    Ok(header) => renew(&renewal, &payload, header, &secrets),
                    Err(problem) => add(&theirs, problem),
                }
            }
        });
        Some(Self { stop: Some(stop), thread: Some(thread), failed })
    }

    /// A remark for the report if renewals failed.
    pub fn remark(&self) -> Option<String> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        (failed.times > 0).then(|| {
            let times = units::plural(failed.times.into(), "time");
            format!("--token-command failed {times} during the load, and calls kept the token before; the last: {}", failed.last)
        })
    }
}

fn renew(renewal: &Renewal, payload: &CallPayload, header: CallHeader, secrets: &LaterSecrets) {
    secrets.add(&header);
    let mut payload = payload.clone();
    let headers = &mut payload.target.headers;
    headers.retain(|other| other.name() != header.name());
    headers.push(header);
    renewal.publish(Arc::new(payload));
}

fn add(failed: &Mutex<Failed>, problem: String) {
    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
    *failed = Failed { times: failed.times + 1, last: problem };
}

impl Drop for Renewer {
    fn drop(&mut self) {
        // Stops a running command and its children.
        self.stop = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(command: &str) -> String {
        let spec = TokenSpec { token_command: Some(command.to_owned()), ..TokenSpec::default() };
        spec.header(&Interrupt::default()).unwrap_err().to_string()
    }

    #[test]
    fn token_is_what_the_command_prints() {
        assert_eq!(fetch("echo  t0ken", || true).unwrap().value(), "Bearer t0ken");
        assert!(!format!("{:?}", fetch("echo t0ken", || true)).contains("t0ken"));
    }

    #[test]
    fn failing_command_is_refused_without_its_output() {
        insta::assert_snapshot!(refusal("echo s3cret; echo no login >&2; exit 3"), @"--token-command: it failed: no login");
        insta::assert_snapshot!(refusal("exit 3"), @"--token-command: it failed, and said nothing on standard error");
        insta::assert_snapshot!(refusal("true"), @"--token-command: it printed no token on standard output");
        insta::assert_snapshot!(refusal("printf 's3cret\\nmore'"), @"--token-command: its output is not a token; expected one line of printable ASCII");
        let stray = TokenSpec { token_every: Some("1s".parse().unwrap()), ..TokenSpec::default() };
        insta::assert_snapshot!(stray.header(&Interrupt::default()).unwrap_err().to_string(), @"--token-every: there is no token to renew; give --token-command, too");
    }
}
