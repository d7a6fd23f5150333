use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Failure, Outcome};

const NONCE_DIGITS: usize = 8;
/// One call in this many compares whole messages.
const WHOLE_EVERY: u64 = 16;

/// Counts the calls of this process.
static NONCES: AtomicU64 = AtomicU64::new(0);

/// A method of the contract, with the types of a library.
pub trait Unary<C>: Send + Sync + 'static {
    type Request: Send + Sync + 'static;
    type Reply: Send;

    fn decode(encoded: &[u8]) -> Result<Self::Request, Failure>;

    /// The field with the nonce. `None` if the message has no content.
    fn sent(request: &mut Self::Request) -> Option<&mut String>;

    /// The same field of a reply.
    fn echoed(reply: &Self::Reply) -> Option<&str>;

    /// Compares whole messages.
    fn equal(request: &Self::Request, reply: &Self::Reply) -> bool;

    /// # Errors
    /// The outcome of a call without a reply.
    fn call(
        client: &C,
        request: &Self::Request,
    ) -> impl Future<Output = Result<Self::Reply, Outcome>> + Send;
}

/// Makes calls one at a time, with its requests in turn.
pub struct Caller<R> {
    requests: Vec<R>,
    next: usize,
}

impl<R: Send + Sync + 'static> Caller<R> {
    /// A caller for slot `slot` of `slots`, with every `slots`-th request. With fewer requests than slots, several slots decode
    /// the same one.
    pub fn new<C, U: Unary<C, Request = R>>(
        encoded: &[&[u8]],
        slot: usize,
        slots: usize,
    ) -> Result<Self, Failure> {
        let indices = (slot % encoded.len()..encoded.len()).step_by(slots);
        let requests = indices.map(|at| {
            let mut request =
                U::decode(encoded[at]).map_err(|error| format!("request {at}: {error}"))?;
            U::sent(&mut request).ok_or_else(|| format!("request {at} has no content"))?;
            Ok::<_, Failure>(request)
        });
        Ok(Self { requests: requests.collect::<Result<_, _>>()?, next: 0 })
    }

    pub async fn call<C, U: Unary<C, Request = R>>(&mut self, client: &C) -> Outcome {
        let at = self.next;
        self.next = (at + 1) % self.requests.len();
        let nonce = NONCES.fetch_add(1, Relaxed) + 1;
        let request = &mut self.requests[at];
        if let Some(field) = U::sent(request) {
            write_nonce(field, nonce);
        }
        let reply = match U::call(client, request).await {
            Ok(reply) => reply,
            Err(outcome) => return outcome,
        };
        let is_echo = U::echoed(&reply) == U::sent(request).as_ref().map(|field| field.as_str());
        let is_right = is_echo && (!nonce.is_multiple_of(WHOLE_EVERY) || U::equal(request, &reply));
        if is_right { Outcome::Ok } else { Outcome::WrongAnswer }
    }
}

/// Replaces the first characters, which are ASCII; a shorter field gets the last digits that fit.
fn write_nonce(field: &mut String, nonce: u64) {
    let mut digits = [b'0'; NONCE_DIGITS];
    let mut rest = nonce;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let length = NONCE_DIGITS.min(field.len());
    let digits = str::from_utf8(&digits[NONCE_DIGITS - length..]).expect("digits are ASCII");
    field.replace_range(..length, digits);
}
