//! How servers of Thrift answer, honest ones and cheats.

use std::io::{Read, Write};
use std::net::TcpStream;

use rpcbench_contract::Encoding;
use rpcbench_record::Protocol;
use rpcbench_testkit::thrift::{Form, Message, exception, kind};
use rpcbench_testkit::{Behaviour, Plan, Server};

struct Client {
    server: Server,
    form: Form,
    stream: TcpStream,
}

/// What came back: the kind of message, and what is in its struct.
#[derive(Debug, PartialEq, Eq)]
struct Answer(u8, Vec<u8>);

impl Client {
    fn of(form: Form, answer: &str) -> Self {
        let mut protocols = Protocol::ALL.into_iter();
        let protocol = protocols.find(|it| Form::of(*it) == Some(form)).unwrap();
        let behaviours: [Behaviour; 2] =
            [protocol.name().parse().unwrap(), answer.parse().unwrap()];
        let plan = Plan::new(&behaviours).unwrap();
        let server = Server::start_at(([127, 0, 0, 1], 0).into(), plan).unwrap();
        let stream = TcpStream::connect(server.address()).unwrap();
        Self { server, form, stream }
    }

    fn call(&mut self, name: &str, request: &[u8]) -> Answer {
        let form = self.form;
        let body = form.wrap(1, request);
        let call =
            Message { kind: kind::CALL, name: name.as_bytes(), sequence_id: 70_000, body: &body };
        self.stream.write_all(&form.write(&call)).unwrap();
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            if let Some((reply, length)) = form.read(&bytes).unwrap() {
                assert_eq!((reply.name, reply.sequence_id), (call.name, call.sequence_id));
                assert_eq!(length, bytes.len());
                let result = form.unwrap(0, reply.body).unwrap_or(reply.body);
                return Answer(reply.kind, result.to_vec());
            }
            let read = self.stream.read(&mut buffer).unwrap();
            assert!(read > 0, "closed before a reply");
            bytes.extend_from_slice(&buffer[..read]);
        }
    }

    /// Calls `Text` with a text of at most 127 bytes.
    fn text(&mut self, text: &str) -> Answer {
        self.call("Text", &field(self.form, 1, text))
    }
}

/// A struct with a text in a field.
fn field(form: Form, number: u8, text: &str) -> Vec<u8> {
    let length = text.len() as u8;
    let head = match form.encoding {
        Encoding::ThriftBinary => vec![11, 0, number, 0, 0, 0, length],
        _ => vec![number << 4 | 8, length],
    };
    [&head, text.as_bytes(), &[0]].concat()
}

/// A reply of `Text` with this in it.
fn reply(form: Form, text: &str) -> Answer {
    Answer(kind::REPLY, field(form, 2, text))
}

#[test]
fn honest_thrift_servers_answer_and_count() {
    for form in Form::all() {
        let mut client = Client::of(form, "honest");
        for text in ["", "hello", "\u{e9}"] {
            assert_eq!(client.text(text), reply(form, text), "{form:?}");
        }
        assert_eq!(client.call("Dto", &[0]), Answer(kind::REPLY, vec![0]));
        let Answer(kind, unknown) = client.call("Nothing", &[0]);
        assert_eq!(
            (kind, unknown),
            (kind::EXCEPTION, form.exception(exception::UNKNOWN_METHOD, "no such method"))
        );
        assert_eq!((client.server.calls(), client.server.connections()), (5, 1));
    }
}

#[test]
fn undecodable_request_gets_exception_and_close() {
    for form in Form::all() {
        let mut client = Client::of(form, "honest");
        // A text of two bytes that are no UTF-8.
        let mut request = field(form, 1, "\u{e9}");
        let end = request.len() - 2;
        request[end] = b'?';
        let Answer(kind, _) = client.call("Text", &request);
        assert_eq!(kind, kind::EXCEPTION, "{form:?}");
        assert_eq!(client.stream.read(&mut [0]).unwrap(), 0, "{form:?}");
    }
}

#[test]
fn thrift_cheats_answer_as_named() {
    for form in Form::all() {
        let mut canned = Client::of(form, "canned");
        assert_eq!(canned.text("first"), reply(form, "first"));
        assert_eq!(canned.text("second"), reply(form, "first"));
        let mut echo = Client::of(form, "byte-echo");
        assert_eq!(echo.text("same"), Answer(kind::REPLY, field(form, 1, "same")));
        let mut skim = Client::of(form, "skim");
        assert_eq!(skim.text("copied"), reply(form, "copied"));
        let beginning = field(form, 1, "ab").len() - 2;
        let mut memo = Client::of(form, &format!("memo:{beginning}"));
        let texts = ["ax", "ay", "bx"].map(|text| memo.text(text));
        assert_eq!(texts, ["ax", "ax", "bx"].map(|text| reply(form, text)));
        let mut failing = Client::of(form, "always-internal");
        let expected = form.exception(exception::INTERNAL_ERROR, "call 1 fails on purpose");
        assert_eq!(failing.text("x"), Answer(kind::EXCEPTION, expected));
    }
}
