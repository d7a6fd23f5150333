//! Many different requests, to catch replies that are canned, cached, mixed up or occasionally wrong.

use super::probe::Probe;
use super::{Case, case};
use crate::corpus::Corpus;
use crate::method::Method;
use crate::nonce::nonce;
use crate::shape::Shape;

/// Calls per shape: enough to catch a server that is wrong once in 1,000 calls of a method.
const CALLS: usize = 1250;

const OWN_REPLIES: &str = "1,250 requests of a run (`text`: 100 bytes), in order, each get their own reply: none canned, cached or wrong now and then";

pub(super) const CASES: &[Case] = &[
    requests("text/many-requests", Method::Text, |probe| many(probe, Shape::Text(100))),
    requests("record/many-requests", Method::Record, |probe| many(probe, Shape::Record)),
    requests("dto/many-requests", Method::Dto, |probe| many(probe, Shape::Dto)),
    requests("tree/many-requests", Method::Tree, |probe| many(probe, Shape::Tree)),
];

// The contract's page has a single line for the cases, since they verify the same.
const fn requests(
    name: &'static str,
    method: Method,
    run: fn(&mut Probe<'_>) -> Result<(), String>,
) -> Case {
    Case { many_to: Some(method), ..case(name, &[], run, OWN_REPLIES) }
}

fn many(probe: &mut Probe<'_>, shape: Shape) -> Result<(), String> {
    if !probe.calls_server() {
        return Ok(());
    }
    let corpus = Corpus::generate(&shape, probe.seed(), probe.profile().encoding);
    let mut wrong = 0;
    let mut first = None;
    for at in 0..CALLS {
        let request = corpus.request_with(at, nonce(at as u32));
        let reply = probe
            .call(corpus.method(), &request)
            .map_err(|error| format!("call {} of {CALLS} failed: {error}", at + 1))?;
        if let Err(mismatch) = corpus.verify(at, &request, &reply) {
            wrong += 1;
            first.get_or_insert_with(|| format!("call {}: {mismatch}", at + 1));
        }
    }
    match first {
        None => Ok(()),
        Some(first) => Err(format!("{wrong} of {CALLS} replies were wrong; {first}")),
    }
}
