//! Reads the number of calls from a client's output.

use anyhow::Context as _;
use regex::Regex;
use serde::Deserialize;

use super::lineup::Client;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Calls that succeeded as far as the client checks: h2load does not read grpc-status, and wrk reads no body.
    pub ok: u64,
    pub failed: u64,
}

/// Reads the number of calls from a client's standard output.
pub fn counts(client: Client, output: &str) -> anyhow::Result<Counts> {
    let (found, what) = match client {
        Client::H2load => (h2load(output), "line `requests: ...`"),
        Client::Wrk => (wrk(output), "line `... requests in ...`"),
        Client::Ghz => (ghz(output), "status code distribution"),
        Client::Floor | Client::Rpcbench | Client::Baseline => (json(output), "JSON with calls"),
    };
    found.with_context(|| {
        let start: String = output.trim().chars().take(300).collect();
        format!("{client} printed no {what}: {start}")
    })
}

fn numbers<const N: usize>(pattern: &str, output: &str) -> Option<[u64; N]> {
    let (_, found): (&str, [&str; N]) = Regex::new(pattern).ok()?.captures(output)?.extract();
    let numbers: Option<Vec<u64>> = found.iter().map(|text| text.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// `requests: 9 total, 9 started, 9 done, 9 succeeded, 0 failed, 0 errored, 0 timeout`. Failed includes errored and timeout.
fn h2load(output: &str) -> Option<Counts> {
    let line = r"(?m)^requests: .* (\d+) succeeded, (\d+) failed, \d+ errored, \d+ timeout";
    let [ok, failed] = numbers(line, output)?;
    Some(Counts { ok, failed })
}

/// `  378291 requests in 2.10s, 45.90MB read`, and lines about sockets and statuses if calls failed. The requests include
/// those with another status, but not those without a reply.
fn wrk(output: &str) -> Option<Counts> {
    let sockets = r"(?m)^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)";
    let [requests] = numbers(r"(?m)^\s*(\d+) requests in ", output)?;
    let lost: u64 = numbers::<4>(sockets, output).map_or(0, |counts| counts.iter().sum());
    let refused = numbers(r"(?m)^\s*Non-2xx or 3xx responses: (\d+)", output);
    let [refused] = refused.unwrap_or([0]);
    Some(Counts { ok: requests.checked_sub(refused)?, failed: refused + lost })
}

/// Lines such as `  [OK]   24933 responses` below `Status code distribution:`.
fn ghz(output: &str) -> Option<Counts> {
    let line = Regex::new(r"(?m)^\s+\[(\w+)\]\s+(\d+) responses").ok()?;
    let (_, codes) = output.split_once("Status code distribution:")?;
    let mut counts = Counts { ok: 0, failed: 0 };
    for found in line.captures_iter(codes) {
        let calls: u64 = found[2].parse().ok()?;
        *(if &found[1] == "OK" { &mut counts.ok } else { &mut counts.failed }) += calls;
    }
    Some(counts)
}

fn json(output: &str) -> Option<Counts> {
    #[derive(Deserialize)]
    struct Calls {
        calls: u64,
        ok: u64,
    }
    let Calls { calls, ok } = serde_json::from_str(output).ok()?;
    Some(Counts { ok, failed: calls.saturating_sub(ok) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_h2load() {
        let output = include_str!("captured/h2load.txt");
        let expected = Counts { ok: 291_720, failed: 0 };
        assert_eq!(counts(Client::H2load, output).unwrap(), expected);
        let output = output.replace("291720 succeeded, 0 failed", "291700 succeeded, 20 failed");
        let expected = Counts { ok: 291_700, failed: 20 };
        assert_eq!(counts(Client::H2load, &output).unwrap(), expected);
    }

    #[test]
    fn h2load_without_a_server_made_no_calls() {
        let output = include_str!("captured/h2load-refused.txt");
        assert_eq!(counts(Client::H2load, output).unwrap(), Counts { ok: 0, failed: 0 });
    }

    #[test]
    fn calls_of_ghz() {
        let output = include_str!("captured/ghz.txt");
        let expected = Counts { ok: 24_933, failed: 0 };
        assert_eq!(counts(Client::Ghz, output).unwrap(), expected);
    }

    #[test]
    fn calls_of_ghz_that_failed() {
        let output = include_str!("captured/ghz-errors.txt");
        let expected = Counts { ok: 11_386, failed: 1_917 };
        assert_eq!(counts(Client::Ghz, output).unwrap(), expected);
    }

    #[test]
    fn calls_of_wrk() {
        let output = include_str!("captured/wrk.txt");
        let expected = Counts { ok: 110_862, failed: 0 };
        assert_eq!(counts(Client::Wrk, output).unwrap(), expected);
    }

    #[test]
    fn calls_of_wrk_that_failed() {
        let output = include_str!("captured/wrk-errors.txt");
        let expected = Counts { ok: 79_031 - 790, failed: 790 };
        assert_eq!(counts(Client::Wrk, output).unwrap(), expected);
        let output = include_str!("captured/wrk-reset.txt");
        let expected = Counts { ok: 1_000, failed: 14_521 + 11_866 };
        assert_eq!(counts(Client::Wrk, output).unwrap(), expected);
    }

    #[test]
    fn calls_of_rpcbench() {
        let output = include_str!("captured/rpcbench.json");
        let calls = counts(Client::Rpcbench, output).unwrap();
        assert_eq!(calls, Counts { ok: 318_140, failed: 0 });
        let output = r#"{"calls":7,"ok":5}"#;
        assert_eq!(counts(Client::Floor, output).unwrap(), Counts { ok: 5, failed: 2 });
    }

    #[test]
    fn an_output_without_calls_is_quoted() {
        let error = counts(Client::Ghz, "no such method\n").unwrap_err().to_string();
        assert_eq!(error, "ghz printed no status code distribution: no such method");
        assert!(counts(Client::H2load, "").is_err());
        assert!(counts(Client::Rpcbench, r#"{"calls":7}"#).is_err());
    }
}
