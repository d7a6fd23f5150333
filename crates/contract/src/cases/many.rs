//! Many different requests, to catch replies that are canned, cached, mixed up or occasionally wrong.

use super::probe::Probe;
use super::{Case, case};
use crate::corpus::Corpus;
use crate::method::Method;
use crate::nonce::nonce;
use crate::shape::Shape;

/// Calls per shape: enough to catch a server that is wrong once in 1,000 calls of a method.
const CALLS: usize = 1250;

// What several cases verify. The contract's page has a single line for them.
const OWN_REPLIES: &str = "1,250 requests of a run (`text`: 100 bytes), in order, each get their own reply: none canned, cached or wrong now and then";

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    case("text/many-requests", &[], |probe| many(probe, Shape::Text(100)),
        OWN_REPLIES),
    case("record/many-requests", &[], |probe| many(probe, Shape::Record),
        OWN_REPLIES),
    case("dto/many-requests", &[], |probe| many(probe, Shape::Dto),
        OWN_REPLIES),
    case("tree/many-requests", &[], |probe| many(probe, Shape::Tree),
        OWN_REPLIES),
];

/// The method to which a case makes many requests. `None` for other cases.
pub(super) fn method(case: &Case) -> Option<Method> {
    let shape = case.name.strip_suffix("/many-requests")?;
    Method::SERVED.into_iter().find(|method| method.name().eq_ignore_ascii_case(shape))
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
