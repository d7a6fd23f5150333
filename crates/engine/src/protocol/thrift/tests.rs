//! Connections without sockets, in all four forms: what they send, how calls end, and what a hostile peer can do.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use proptest::prelude::*;
use rpcbench_contract::{Corpus, Encoding as Message, Profile, Shape, thrift_reply};

use super::encoding::{EXCEPTION, REPLY};
use super::templates::Templates;
use super::*;
use crate::nonce::Nonce;
use crate::patch::Patch;
use crate::payload::Payload;
use crate::protocol::{Allowance, Broken, Call, Connection as _, End, Events};
use crate::target::Target;
use rpcbench_clock::Nanos;

/// Runs the same test in every form.
macro_rules! each_form {
    ($test:ident) => {
        $test::<Framed<Binary>>();
        $test::<Framed<Compact>>();
        $test::<Buffered<Binary>>();
        $test::<Buffered<Compact>>();
    };
}

/// Records events of a connection.
struct Seen {
    corpus: Arc<Corpus>,
    problems: Vec<String>,
    ended: Vec<(Call, End)>,
}

impl Events for Seen {
    fn verify(&mut self, call: &Call, message: &[u8]) -> bool {
        let index = call.request as usize;
        let sent = self.corpus.request_with(index, call.nonce.digits());
        self.corpus.verify(index, &sent, message).is_ok()
    }

    fn malformed(&mut self, _: u32, problem: &str) {
        self.problems.push(problem.to_owned());
    }

    fn ended(&mut self, call: &Call, end: End) {
        self.ended.push((*call, end));
    }
}

/// A connection and the requests that it sends.
struct Client<T: Transport> {
    connection: Connection<T>,
    corpus: Arc<Corpus>,
    out: Vec<u8>,
}

/// The first requests of a corpus, including the first non-canonical one.
struct Few<'a>(&'a Corpus, Target, Vec<Patch>);

impl Payload for Few<'_> {
    fn target(&self, _: usize) -> &Target {
        &self.1
    }

    fn len(&self) -> usize {
        16
    }

    fn request(&self, index: usize) -> &[u8] {
        self.0.request(index)
    }

    fn patches(&self, index: usize) -> &[Patch] {
        std::slice::from_ref(&self.2[index])
    }

    fn verify(&self, _: usize, _: &[u8], _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// Created once for all connections, since that takes longer than the rest of a test.
fn corpus(shape: Shape, encoding: Message) -> Arc<Corpus> {
    type Made = HashMap<(Shape, Message), Arc<Corpus>>;
    static MADE: LazyLock<Mutex<Made>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || Arc::new(Corpus::generate(&shape, 7, encoding));
    Arc::clone(made.entry((shape, encoding)).or_insert_with(make))
}

fn encoding<T: Transport>() -> Message {
    Profile::of(T::PROTOCOL).encoding
}

impl<T: Transport> Client<T> {
    fn new(shape: Shape) -> Self {
        Self::with(shape, &Arc::default())
    }

    fn with(shape: Shape, allowance: &Arc<Allowance>) -> Self {
        let corpus = corpus(shape, encoding::<T>());
        let patches = (0..16).map(|index| Patch::nonce(corpus.nonce(index).clone())).collect();
        let payload = Few(&corpus, Target::new(corpus.method().name()), patches);
        let (templates, mut out) = (Templates::new::<T>(&payload), Vec::new());
        let connection = Connection::new(Arc::new(templates), 4, allowance, &mut out);
        Self { connection, corpus, out }
    }

    /// Sends calls that are due at 0, 1, ...
    fn send(mut self, requests: &[u32]) -> Self {
        for (due, request) in (0..).zip(requests) {
            let call = Call {
                request: *request,
                nonce: Nonce::new(due as u32),
                due: Nanos(due),
                ..Call::default()
            };
            self.connection.send(call, &mut self.out);
        }
        self.connection.flushed(Nanos(100));
        self
    }

    fn receive(&mut self, bytes: &[u8]) -> Result<Seen, Broken> {
        let corpus = Arc::clone(&self.corpus);
        let mut seen = Seen { corpus, problems: Vec::new(), ended: Vec::new() };
        self.connection.receive(bytes, &mut Vec::new(), &mut seen).map(|()| seen)
    }

    /// The right reply to the call with this number, which carries this request.
    fn reply(&self, number: u64, request: u32) -> Vec<u8> {
        let index = request as usize;
        let body = self.corpus.request_with(index, Nonce::new(number as u32).digits());
        let reply = thrift_reply(encoding::<T>(), self.corpus.method(), &body).unwrap();
        self.message(REPLY, number, &[T::Encoding::RESULT, &reply, &[0]].concat())
    }

    /// A message about the call with this number.
    fn message(&self, kind: u8, number: u64, body: &[u8]) -> Vec<u8> {
        message::<T>(kind, self.corpus.method().name(), sequence::id(number), body)
    }
}

fn message<T: Transport>(kind: u8, name: &str, id: u32, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    T::Encoding::put_head(&mut message, kind, name, id);
    message.extend(body);
    T::framed(&message)
}

/// How calls ended, by their numbers.
fn ends(seen: Seen) -> Vec<(u64, End)> {
    seen.ended.into_iter().map(|(call, end)| (call.due.0, end)).collect()
}

const RIGHT: End = End::Answered { right: true };

#[test]
fn request_is_a_message_with_one_argument() {
    fn sent<T: Transport>() -> Vec<u8> {
        Client::<T>::new(Shape::Text(2)).send(&[0, 0]).out
    }
    let text = |nonce: &[u8]| [b"\x0c\0\x01\x0b\0\x01\0\0\0\x02", nonce, b"\0\0"].concat();
    let binary =
        |id: &[u8; 4], nonce| [b"\x80\x01\0\x01\0\0\0\x04Text", &id[..], &text(nonce)].concat();
    let (first, second) = (binary(b"\0\x20\0\0", b"@@"), binary(b"\0\x20\0\x01", b"@A"));
    assert_eq!(sent::<Buffered<Binary>>(), [&first[..], &second].concat());
    let length = b"\0\0\0\x1e";
    assert_eq!(first.len(), 0x1e);
    assert_eq!(sent::<Framed<Binary>>(), [&length[..], &first, length, &second].concat());
    let compact = |id: &[u8; 4], nonce: &[u8]| {
        [b"\x82\x21", &id[..], b"\x04Text\x1c\x18\x02", nonce, b"\0\0"].concat()
    };
    let first = compact(b"\x80\x80\x80\x01", b"@@");
    let second = compact(b"\x81\x80\x80\x01", b"@A");
    assert_eq!(sent::<Buffered<Compact>>(), [&first[..], &second].concat());
    let length = b"\0\0\0\x12";
    assert_eq!(sent::<Framed<Compact>>(), [&length[..], &first, length, &second].concat());
}

#[test]
fn replies_end_their_calls_in_order() {
    fn test<T: Transport>() {
        for shape in [Shape::Text(0), Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree] {
            let mut client = Client::<T>::new(shape).send(&[0, 7, 3]);
            assert_eq!(client.connection.open_calls(), 3);
            let replies = [client.reply(0, 0), client.reply(1, 7), client.reply(2, 3)].concat();
            let seen = client.receive(&replies).unwrap();
            assert!(seen.ended.iter().all(|(call, _)| call.written == Nanos(100)));
            assert_eq!(ends(seen), [(0, RIGHT), (1, RIGHT), (2, RIGHT)], "{shape}");
            assert!(client.connection.open_calls() == 0 && client.connection.is_open());
        }
    }
    each_form!(test);
}

#[test]
fn missing_and_mismatched_results_are_wrong_answers() {
    fn test<T: Transport>() {
        let mut client = Client::<T>::new(Shape::Text(100)).send(&[0, 1, 2]);
        // A reply with another call's nonce; no result; a result that is not a struct.
        let other = client.reply(1, 1);
        let at = other.windows(4).position(|it| it == T::Encoding::sequence_id(sequence::id(1)));
        let mut other = other;
        let id = T::Encoding::sequence_id(sequence::id(0));
        other[at.unwrap()..][..4].copy_from_slice(&id);
        let none = client.message(REPLY, 1, b"\0");
        let number: &[u8] =
            if T::Encoding::RESULT.len() == 3 { b"\x03\0\0\x07\0" } else { b"\x03\0\x07\0" };
        let number = client.message(REPLY, 2, number);
        let seen = client.receive(&[other, none, number].concat()).unwrap();
        assert_eq!(seen.problems, ["a reply without a result"; 2]);
        let wrong = End::Answered { right: false };
        assert_eq!(ends(seen), [(0, wrong.clone()), (1, wrong.clone()), (2, wrong)]);
    }
    each_form!(test);
}

/// An exception's fields: a message and a type.
fn exception<T: Transport>(code: u8) -> Vec<u8> {
    match T::Encoding::RESULT.len() {
        3 => [b"\x0b\0\x01\0\0\0\x05no\xffgo\x08\0\x02\0\0\0", &[code, 0][..]].concat(),
        _ => [b"\x18\x05no\xffgo\x15", &[2 * code, 0][..]].concat(),
    }
}

#[test]
fn exception_is_a_status() {
    fn test<T: Transport>() {
        let mut client = Client::<T>::new(Shape::Dto).send(&[0, 1]);
        let bare = client.message(EXCEPTION, 1, b"\0");
        let named = client.message(EXCEPTION, 0, &exception::<T>(6));
        let seen = client.receive(&[named, bare].concat()).unwrap();
        let status = |code, message: &str| End::status(code, message);
        assert_eq!(ends(seen), [(0, status(6, "no\u{fffd}go")), (1, status(0, ""))]);
    }
    each_form!(test);
}

/// Why these bytes break a connection with one call; the call still has to be taken from it.
fn loses<T: Transport>(bytes: &[u8]) -> String {
    let mut client = Client::<T>::new(Shape::Text(100)).send(&[0]);
    let problem = client.receive(bytes).map(ends).unwrap_err().to_string();
    assert_eq!(client.connection.abandon().len(), 1, "{problem}");
    let prefix = format!("peer broke {}: ", T::PROTOCOL);
    problem.strip_prefix(&prefix).unwrap_or_else(|| panic!("{problem}")).to_owned()
}

#[test]
fn invalid_reply_costs_the_connection() {
    fn test<T: Transport>() {
        let client = Client::<T>::new(Shape::Text(100));
        let body = [T::Encoding::RESULT, &[0, 0]].concat();
        let id = sequence::id(0);
        let other = loses::<T>(&client.message(REPLY, 1, &body));
        assert_eq!(other, "a reply with another sequence id than its call has");
        let zero = loses::<T>(&message::<T>(REPLY, "Text", 0, &body));
        assert_eq!(zero, "a reply with another sequence id than its call has");
        let method = loses::<T>(&message::<T>(REPLY, "Tree", id, &body));
        assert_eq!(method, "a reply that names another method than its call does");
        assert_eq!(loses::<T>(&client.message(1, 0, &body)), "a message that is no reply");
        assert_eq!(loses::<T>(&client.message(4, 0, &body)), "a message that is no reply");
        let long = "x".repeat(100);
        assert_ne!(loses::<T>(&message::<T>(REPLY, &long, id, &body)), "");
        let mut idle = Client::<T>::new(Shape::Text(100));
        let unasked = idle.receive(&client.reply(0, 0)).map(ends).unwrap_err().to_string();
        assert!(unasked.ends_with("a reply to no call"), "{unasked}");
    }
    each_form!(test);
}

#[test]
fn peer_of_another_protocol_is_named() {
    let page = b"HTTP/1.1 400 Bad Request\r\n\r\n";
    let long = "a message longer than 64 MiB; does the server speak this protocol?";
    let other = "a message of another protocol; does the server speak this one?";
    assert_eq!(loses::<Framed<Binary>>(page), long);
    assert_eq!(loses::<Framed<Compact>>(b"\xff\xff\xff\xff"), long);
    assert_eq!(loses::<Buffered<Binary>>(page), other);
    assert_eq!(loses::<Buffered<Compact>>(b"H"), other);
    assert_eq!(loses::<Framed<Binary>>(b"\0\0\0\x02\x82\x41"), other);
    assert_eq!(loses::<Framed<Compact>>(b"\0\0\0\x04\x80\x01\0\x02"), other);
    assert_eq!(loses::<Framed<Binary>>(b"\0\0\0\0"), "a message without a whole head");
    assert_eq!(loses::<Framed<Compact>>(b"\0\0\0\x01\x82"), "a message without a whole head");
    let unreadable = loses::<Framed<Compact>>(
        &Client::<Framed<Compact>>::new(Shape::Text(100)).message(EXCEPTION, 0, b"\x18\x7fno"),
    );
    assert_eq!(unreadable, "an exception that can't be read");
}

#[test]
fn unframed_messages_above_the_limit_are_refused() {
    fn begun<T: Transport>(body: &[u8]) -> String {
        loses::<T>(&Client::<T>::new(Shape::Text(100)).message(REPLY, 0, body))
    }
    let binary = begun::<Buffered<Binary>>;
    let compact = begun::<Buffered<Compact>>;
    let too_long = "a message longer than 64 MiB";
    assert_eq!(binary(b"\x0b\0\x01\x7f\xff\xff\xff"), too_long);
    assert_eq!(compact(b"\x18\xff\xff\xff\xff\x07"), too_long);
    assert_eq!(binary(b"\x0f\0\x01\x0a\x7f\xff\xff\xff"), too_long);
    assert_eq!(binary(b"\x0b\0\x01\xff\xff\xff\xff"), "a length below 0");
    assert_eq!(compact(b"\x18\xff\xff\xff\xff\x0f"), "a length below 0");
    assert_eq!(
        compact(b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        "a number of more than 10 bytes"
    );
    assert_eq!(binary(b"\x05\0\x01"), "a value of a type that does not exist");
    assert_eq!(compact(b"\x1f"), "a value of a type that does not exist");
    assert_eq!(binary(&b"\x0c\0\x01".repeat(65)), "values nested more than 64 deep");
    let lists = [b"\x19", &b"\x19".repeat(65)[..]].concat();
    assert_eq!(compact(&lists), "values nested more than 64 deep");
    let named = [b"\x80\x01\0\x02\0\0\x04\x01", &b"x".repeat(2000)[..]].concat();
    assert_eq!(loses::<Buffered<Binary>>(&named), "the name of a method is longer than 1 KiB");
}

#[test]
fn connection_with_a_timed_out_call_waits_for_its_other_calls() {
    fn test<T: Transport>() {
        let mut client = Client::<T>::new(Shape::Text(100)).send(&[0, 1, 2]);
        let expired = client.connection.expire(Nanos(1), &mut Vec::new());
        assert_eq!(expired.iter().map(|call| call.due.0).collect::<Vec<_>>(), [0, 1]);
        assert!(!client.connection.can_send() && !client.connection.is_finished());
        let failed = client.message(EXCEPTION, 0, b"\0");
        let replies = [failed, client.reply(1, 1), client.reply(2, 2)].concat();
        assert_eq!(ends(client.receive(&replies).unwrap()), [(2, RIGHT)]);
        assert!(client.connection.is_finished());
        assert_eq!(client.connection.close_reason(), "a call ran out of time");
    }
    each_form!(test);
}

#[test]
fn unfinished_reply_takes_what_all_connections_share() {
    fn test<T: Transport>() {
        let allowance = Arc::new(Allowance::new(100_000));
        let connect = || Client::<T>::with(Shape::Text(60_000), &allowance).send(&[0]);
        let (mut one, mut other) = (connect(), connect());
        let reply = one.reply(0, 0);
        let part = &reply[..reply.len() - 1];
        assert!(one.receive(part).is_ok() && allowance.taken() >= part.len());
        assert!(other.receive(part).is_err());
        drop((one, other));
        assert_eq!(allowance.taken(), 0);
    }
    each_form!(test);
}

/// All replies to a connection's calls, in pieces of these lengths.
fn receives<T: Transport>(shape: Shape, requests: &[u32], cuts: &[usize]) {
    let mut client = Client::<T>::new(shape).send(requests);
    let replies = (0..).zip(requests).flat_map(|(number, at)| client.reply(number, *at));
    let (mut rest, mut ended) = (replies.collect::<Vec<u8>>(), Vec::new());
    for cut in cuts.iter().cycle() {
        let part: Vec<u8> = rest.drain(..rest.len().min(*cut)).collect();
        ended.extend(ends(client.receive(&part).unwrap()));
        if rest.is_empty() {
            break;
        }
    }
    let expected: Vec<_> = (0..requests.len() as u64).map(|number| (number, RIGHT)).collect();
    assert_eq!(ended, expected, "{}", T::PROTOCOL);
    assert_eq!(client.connection.open_calls(), 0);
}

#[test]
fn reply_may_be_cut_anywhere() {
    fn test<T: Transport>() {
        let length = Client::<T>::new(Shape::Tree).reply(0, 7).len();
        for cut in 1..length {
            receives::<T>(Shape::Tree, &[7], &[cut, length]);
        }
        receives::<T>(Shape::Tree, &[7, 8], &[1]);
    }
    each_form!(test);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn replies_may_be_cut_in_many_places(
        requests in prop::collection::vec(0_u32..16, 1..12),
        cuts in prop::collection::vec(1_usize..900, 1..50),
    ) {
        fn all<T: Transport>(requests: &[u32], cuts: &[usize]) {
            for shape in [Shape::Text(40), Shape::Record, Shape::Tree] {
                receives::<T>(shape, requests, cuts);
            }
        }
        all::<Framed<Binary>>(&requests, &cuts);
        all::<Framed<Compact>>(&requests, &cuts);
        all::<Buffered<Binary>>(&requests, &cuts);
        all::<Buffered<Compact>>(&requests, &cuts);
    }

    /// Any bytes after the head of a reply end in outcomes or in a lost connection, and every call ends once.
    #[test]
    fn arbitrary_bytes_are_handled(bytes in prop::collection::vec(0_u8..16, 0..200), whole: bool) {
        fn survives<T: Transport>(bytes: &[u8], whole: bool) {
            let mut client = Client::<T>::new(Shape::Dto).send(&[0, 1, 2]);
            let reply = client.message(REPLY, 0, bytes);
            let received = if whole { &reply } else { bytes };
            let ended = client.receive(received).map_or(0, |seen| seen.ended.len());
            let left = client.connection.open_calls() as usize;
            assert!(ended + left <= 3 && client.connection.abandon().len() == left);
        }
        survives::<Framed<Binary>>(&bytes, whole);
        survives::<Framed<Compact>>(&bytes, whole);
        survives::<Buffered<Binary>>(&bytes, whole);
        survives::<Buffered<Compact>>(&bytes, whole);
    }
}
