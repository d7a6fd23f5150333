//! Sentences about connections.

use rpcbench_record::{Connections, Measured};

use crate::format::{count, plural};

/// The sum over all trials.
fn sum(trials: &[&Measured]) -> Connections {
    let mut sum = Connections::default();
    trials.iter().for_each(|trial| sum.add(&trial.connections));
    sum
}

fn with_reason(mut sentence: String, connections: &Connections) -> String {
    if let Some(reason) = &connections.reason {
        sentence.push_str(": ");
        sentence.push_str(reason);
    }
    sentence
}

/// `the server broke the protocol on 2 connections: peer broke HTTP/2: ...`. `None` if it did not.
pub(crate) fn fault(trials: &[&Measured]) -> Option<String> {
    let all = sum(trials);
    let on = plural(all.broken, "connection");
    (all.broken > 0).then(|| with_reason(format!("the server broke the protocol on {on}"), &all))
}

/// A note on lost connections and refused calls. `None` if nothing happened.
pub(crate) fn note(trials: &[&Measured]) -> Option<String> {
    let all = sum(trials);
    let mut parts = Vec::new();
    if all.ended + all.reopened > 0 {
        let (ended, times) = (plural(all.ended, "connection"), plural(all.reopened, "time"));
        let orderly = match all.orderly {
            0 => String::new(),
            orderly => format!(" ({} cleanly)", count(orderly)),
        };
        parts.push(with_reason(format!("{ended} ended{orderly}, reopened {times}"), &all));
    }
    if all.connect_failed > 0 {
        let failed = plural(all.connect_failed, "attempt");
        let refused = count(all.connect_refused);
        parts.push(format!("{failed} to connect failed, {refused} of them refused"));
    }
    if all.refused > 0 {
        let resent = count(all.resent);
        parts.push(format!("{} refused, {resent} sent again", plural(all.refused, "call")));
    }
    if let Some(allowed) = all.calls_allowed {
        let calls = plural(allowed.into(), "call");
        parts.push(format!(
            "the server allows {calls} at once on a connection, fewer than planned: others waited in the client; give \
             more connections (-c)"
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(connections: Connections) -> Measured {
        Measured { connections, ..Measured::default() }
    }

    #[test]
    fn connection_events_add_up_over_trials() {
        let quiet = measured(Connections::default());
        assert_eq!((note(&[&quiet, &quiet]), fault(&[&quiet])), (None, None));
        let mut busy =
            Connections { reopened: 1000, refused: 1, resent: 1, ..Connections::default() };
        busy.end("ENHANCE_YOUR_CALM", false);
        let busy = measured(busy);
        assert_eq!(fault(&[&busy]), None);
        assert_eq!(
            note(&[&quiet, &busy, &busy]).as_deref(),
            Some(
                "2 connections ended, reopened 2,000 times: ENHANCE_YOUR_CALM; 2 calls refused, 2 sent again"
            )
        );
        let mut closed =
            Connections { connect_failed: 3, connect_refused: 2, ..Connections::default() };
        closed.end("GOAWAY", true);
        assert_eq!(
            note(&[&measured(closed)]).as_deref(),
            Some(
                "1 connection ended (1 cleanly), reopened 0 times: GOAWAY; 3 attempts to connect failed, 2 of them refused"
            )
        );
        let [four, two] = [Some(4), Some(2)]
            .map(|calls_allowed| measured(Connections { calls_allowed, ..Connections::default() }));
        assert_eq!(
            note(&[&quiet, &four, &two]).as_deref(),
            Some(
                "the server allows 2 calls at once on a connection, fewer than planned: others waited in the client; \
                 give more connections (-c)"
            )
        );
        let mut broken = Connections::default();
        broken.break_off("peer broke HTTP/2");
        assert_eq!(
            fault(&[&quiet, &measured(broken)]).as_deref(),
            Some("the server broke the protocol on 1 connection: peer broke HTTP/2")
        );
    }
}
