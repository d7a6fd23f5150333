//! What each client says about its calls.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::lineup::Client;

/// Calls of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Calls that succeeded, as far as the client looks: h2load does not read grpc-status, and wrk no body.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
}

/// Output that does not say how many calls there were.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// A part of the output is missing.
    #[error("{client} printed no {what}: {output}")]
    Missing {
        /// Who printed it.
        client: Client,
        /// What was looked for.
        what: &'static str,
        /// What was printed instead.
        output: String,
    },
    /// The output is not the JSON that was expected.
    #[error("{client} printed other JSON than expected")]
    Json {
        /// Who printed it.
        client: Client,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Reads the number of calls out of a client's standard output.
///
/// # Errors
/// If it is not there.
pub fn counts(client: Client, output: &str) -> Result<Counts, ParseError> {
    let missing = |what| {
        let output = output.trim().chars().take(300).collect();
        ParseError::Missing { client, what, output }
    };
    match client {
        Client::H2load => h2load(output).ok_or_else(|| missing("line `requests: ...`")),
        Client::Wrk => wrk(output).ok_or_else(|| missing("line `... requests in ...`")),
        Client::Ghz => ghz(output).ok_or_else(|| missing("status code distribution")),
        Client::Floor | Client::Rpcbench => {
            json(output).map_err(|source| ParseError::Json { client, source })
        }
    }
}

/// `requests: 9 total, 9 started, 9 done, 9 succeeded, 0 failed, 0 errored, 0 timeout`. The errored and
/// the timed out are among the failed.
fn h2load(output: &str) -> Option<Counts> {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let line = r"(?m)^requests: .* (\d+) succeeded, (\d+) failed, \d+ errored, \d+ timeout";
        Regex::new(line).ok()
    });
    let found = LINE.as_ref()?.captures(output)?;
    Some(Counts { ok: found[1].parse().ok()?, failed: found[2].parse().ok()? })
}

/// `  378291 requests in 2.10s, 45.90MB read`, and where calls failed, lines on sockets and on statuses. A request
/// that got another status is among the requests, one without a reply is not.
fn wrk(output: &str) -> Option<Counts> {
    static LINES: LazyLock<Option<[Regex; 3]>> = LazyLock::new(|| {
        let requests = Regex::new(r"(?m)^\s*(\d+) requests in ").ok()?;
        let sockets =
            r"(?m)^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)";
        let statuses = Regex::new(r"(?m)^\s*Non-2xx or 3xx responses: (\d+)").ok()?;
        Some([requests, Regex::new(sockets).ok()?, statuses])
    });
    // The sum of the numbers in a line; `None`: there is no such line.
    let numbers = |line: &Regex| -> Option<u64> {
        let found = line.captures(output)?;
        found.iter().skip(1).flatten().map(|number| number.as_str().parse::<u64>().ok()).sum()
    };
    let [requests, sockets, statuses] = LINES.as_ref()?;
    let (requests, refused) = (numbers(requests)?, numbers(statuses).unwrap_or(0));
    let failed = refused + numbers(sockets).unwrap_or(0);
    Some(Counts { ok: requests.checked_sub(refused)?, failed })
}

/// Lines such as `  [OK]   24933 responses` below `Status code distribution:`.
fn ghz(output: &str) -> Option<Counts> {
    static LINE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?m)^\s+\[(\w+)\]\s+(\d+) responses").ok());
    let (_, codes) = output.split_once("Status code distribution:")?;
    let mut counts = Counts { ok: 0, failed: 0 };
    for found in LINE.as_ref()?.captures_iter(codes) {
        let calls: u64 = found[2].parse().ok()?;
        *(if &found[1] == "OK" { &mut counts.ok } else { &mut counts.failed }) += calls;
    }
    Some(counts)
}

fn json(output: &str) -> Result<Counts, serde_json::Error> {
    #[derive(Deserialize)]
    struct Calls {
        calls: u64,
        ok: u64,
    }
    let Calls { calls, ok } = serde_json::from_str(output)?;
    Ok(Counts { ok, failed: calls.saturating_sub(ok) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_h2load() {
        let output = include_str!("../tests/captured/h2load.txt");
        let expected = Counts { ok: 291_720, failed: 0 };
        assert_eq!(counts(Client::H2load, output).unwrap(), expected);
        let output = output.replace("291720 succeeded, 0 failed", "291700 succeeded, 20 failed");
        let expected = Counts { ok: 291_700, failed: 20 };
        assert_eq!(counts(Client::H2load, &output).unwrap(), expected);
    }

    #[test]
    fn h2load_without_a_server_made_no_calls() {
        let output = include_str!("../tests/captured/h2load-refused.txt");
        assert_eq!(counts(Client::H2load, output).unwrap(), Counts { ok: 0, failed: 0 });
    }

    #[test]
    fn calls_of_ghz() {
        let output = include_str!("../tests/captured/ghz.txt");
        let expected = Counts { ok: 24_933, failed: 0 };
        assert_eq!(counts(Client::Ghz, output).unwrap(), expected);
    }

    #[test]
    fn calls_of_ghz_that_failed() {
        let output = include_str!("../tests/captured/ghz-errors.txt");
        let expected = Counts { ok: 11_386, failed: 1_917 };
        assert_eq!(counts(Client::Ghz, output).unwrap(), expected);
    }

    #[test]
    fn calls_of_wrk() {
        let output = include_str!("../tests/captured/wrk.txt");
        let expected = Counts { ok: 110_862, failed: 0 };
        assert_eq!(counts(Client::Wrk, output).unwrap(), expected);
    }

    #[test]
    fn calls_of_wrk_that_failed() {
        let output = include_str!("../tests/captured/wrk-errors.txt");
        let expected = Counts { ok: 79_031 - 790, failed: 790 };
        assert_eq!(counts(Client::Wrk, output).unwrap(), expected);
        let output = include_str!("../tests/captured/wrk-reset.txt");
        let expected = Counts { ok: 1_000, failed: 14_521 + 11_866 };
        assert_eq!(counts(Client::Wrk, output).unwrap(), expected);
    }

    #[test]
    fn calls_of_rpcbench() {
        let output = include_str!("../tests/captured/rpcbench.json");
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
