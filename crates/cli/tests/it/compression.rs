//! Compressed requests and replies, and the longest reply.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};

use crate::bench::{Machine, repository, rpcbench};
use crate::connections;
use crate::grpc_peer::{Reply, Request, serve};
use crate::program::{Ended, Program};

fn compressed(content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzEncoder::new(content, Compression::best()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn content(compressed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut bytes).unwrap();
    bytes
}

/// 200 measured calls.
fn load(address: &str, options: &[&str]) -> Ended {
    let fixed = ["load", address, "-n", "200", "-c", "2", "--warmup", "none", "--quiet"];
    Program::start(&mut rpcbench(&[&fixed, options].concat())).finish()
}

/// Calls of the contract's `Text` with a long text.
fn text_calls(address: &str, options: &[&str]) -> Ended {
    let proto = repository().join("contract/echo.proto");
    let data = format!(r#"{{"text": "{}"}}"#, "again ".repeat(100));
    let fixed = ["--proto", proto.to_str().unwrap(), "--call", "Echo/Text", "-d", &data];
    load(address, &[&fixed, options].concat())
}

/// Answers `Text` with the text of the request, compressed.
fn echo(request: &Request) -> Reply {
    assert_eq!(request.headers["grpc-encoding"], "gzip");
    assert_eq!(request.headers["grpc-accept-encoding"], "gzip");
    assert_eq!(request.body[0], 1);
    let mut message = content(request.message());
    message[0] = 0x12;
    let headers = vec![("grpc-encoding", "gzip")];
    Reply { headers, ..Reply::message(true, &compressed(&message)) }
}

#[test]
fn requests_and_replies_of_grpc_are_compressed() {
    let _machine = Machine::shared();
    let address = serve(echo).to_string();
    let options = ["--compress", "gzip", "--expect", "$.echo exists"];
    let ended = text_calls(&address, &options).expect_ok_or_late();
    assert!(ended.out.contains("$.echo of 200; "), "{}", ended.out);
    assert!(ended.out.contains("1 of the replies decoded"), "{}", ended.out);
    let wrong = ["--compress", "gzip", "--expect", r#"$.echo == "other""#];
    let ended = text_calls(&address, &wrong).expect(1);
    let example = r#"wrong answer: $.echo is "again again"#;
    assert!(ended.out.contains(example), "{}", ended.out);
    assert!(ended.out.contains(r#"reply: { "echo": "again again"#), "{}", ended.out);
    let once = text_calls(&address, &["--compress", "gzip", "--once"]).expect(0);
    assert!(once.out.contains("before compression"), "{}", once.out);
    assert!(once.out.contains(", compressed to "), "{}", once.out);
    assert!(once.out.contains(r#""echo": "again again"#), "{}", once.out);
}

#[test]
fn unrequested_compressed_reply_fails_its_call() {
    let _machine = Machine::shared();
    let address = serve(|_| Reply::message(true, &compressed(b"\x12\x01a"))).to_string();
    let ended = text_calls(&address, &[]).expect(1);
    let reason = "compressed message, and no compression was offered";
    assert!(ended.out.contains(reason), "{}", ended.out);
    let address = serve(|_| Reply::message(true, b"\x12\x01a")).to_string();
    let ended = text_calls(&address, &["--compress", "gzip"]).expect(1);
    assert!(ended.out.contains("compressed message that is not gzip"), "{}", ended.out);
}

#[test]
fn bomb_is_a_wrong_answer_in_bounded_memory() {
    let _machine = Machine::shared();
    let bomb = compressed(&vec![0; 256 << 20]);
    let address = serve(move |_| Reply::message(true, &bomb)).to_string();
    let options = ["--compress", "gzip", "--max-message", "4M", "--expect", "$.echo exists"];
    let ended = text_calls(&address, &options).expect(1);
    let reason = "wrong answer: a reply of more than 4 MiB once decompressed";
    assert!(ended.out.contains(reason), "{}", ended.out);
    let ended = text_calls(&address, &options[..4]).expect(1);
    assert!(ended.out.contains("wrong answer  200 (100 %)"), "{}", ended.out);
    let once = text_calls(&address, &[&options[..4], &["--once"]].concat()).expect(1);
    let said = ", with a reply of more than 4 MiB once decompressed\n  content-type: ";
    assert!(once.out.contains("Status 0 OK after ") && once.out.contains(said), "{}", once.out);
    let broken = serve(|_| {
        let mut bytes = compressed(b"\x12\x01a");
        bytes.truncate(bytes.len() - 4);
        Reply::message(true, &bytes)
    });
    let ended = text_calls(&broken.to_string(), &options).expect(1);
    assert!(ended.out.contains("a reply that is not valid gzip: it is truncated"), "{}", ended.out);
}

#[test]
fn reply_above_the_largest_message_fails_its_call() {
    let _machine = Machine::shared();
    let address = serve(|request| {
        let mut message = request.message().to_vec();
        message[0] = 0x12;
        Reply::message(false, &message)
    });
    let address = address.to_string();
    text_calls(&address, &["--max-message", "700"]).expect_ok_or_late();
    let ended = text_calls(&address, &["--max-message", "100"]).expect(1);
    assert!(ended.out.contains("a reply of 603 B; --max-message is 100 B"), "{}", ended.out);
    let once = text_calls(&address, &["--max-message", "100", "--once"]).expect(1);
    assert!(once.out.contains(", with a reply of 603 B; --max-message is 100 B"), "{}", once.out);
    let long = serve(|_| Reply::message(false, &vec![0; 1 << 20])).to_string();
    let ended = text_calls(&long, &["--max-message", "100k"]).expect(1);
    let reason = "a reply above 100 KiB (--max-message)";
    assert!(ended.out.contains(reason), "{}", ended.out);
    let once = text_calls(&long, &["--max-message", "100k", "--once"]).expect(1);
    assert!(once.out.contains(reason), "{}", once.out);
    assert!(!once.out.contains("No reply"), "{}", once.out);
}

/// What requests said, each once.
type Seen = Arc<Mutex<Vec<String>>>;

/// Answers with a compressed page: of JSON, or of an error at `/error`.
fn page(stream: TcpStream, seen: &Seen) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            (stream.read_line(&mut head).ok()? > 0).then_some(())?;
        }
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        let mut body = vec![0; field("Content-Length: ").map_or(0, |it| it.parse().unwrap())];
        stream.read_exact(&mut body).ok()?;
        let coding = field("Content-Encoding: ").unwrap_or("none");
        let accepted = field("Accept-Encoding: ").unwrap_or("none");
        let body = if coding == "gzip" { content(&body) } else { body };
        let said = format!("{coding} {accepted} {}", String::from_utf8_lossy(&body));
        let mut seen = seen.lock().unwrap();
        if !seen.contains(&said) {
            seen.push(said);
        }
        drop(seen);
        let (status, text) = match head.contains(" /error ") {
            true => ("503 No", "the database is away".repeat(100)),
            false => ("200 OK", format!(r#"{{"id": 7, "rest": "{}"}}"#, "x".repeat(1000))),
        };
        let body = compressed(text.as_bytes());
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.get_mut().write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}

fn serve_pages() -> (Seen, String) {
    let seen = Seen::default();
    let all = Arc::clone(&seen);
    (seen, connections::serve(move |stream| _ = page(stream, &all)))
}

#[test]
fn bodies_of_a_url_are_compressed_in_both_directions() {
    let _machine = Machine::shared();
    let (seen, address) = serve_pages();
    let url = format!("http://{address}/");
    let options = ["--compress", "gzip", "-d", r#"{"a": 1}"#, "--expect", "$.id == 7"];
    load(&url, &options).expect_ok_or_late();
    load(&url, &["--compress", "gzip"]).expect_ok_or_late();
    load(&url, &["-H", "accept-encoding: gzip", "--expect", "$.id == 7"]).expect_ok_or_late();
    let expected = [r#"gzip gzip {"a": 1}"#, "none gzip ", "none none "];
    assert_eq!(*seen.lock().unwrap(), expected);
    let ended = load(&url, &["--compress", "gzip", "--expect", "$.id == 8"]).expect(1);
    assert!(ended.out.contains(r#"wrong answer: $.id is 7; reply: {"id": 7, "#), "{}", ended.out);
    let failing = format!("http://{address}/error");
    let ended = load(&failing, &["--compress", "gzip"]).expect(1);
    assert!(
        ended.out.contains("status 503 Service Unavailable: the database is away"),
        "{}",
        ended.out
    );
    let once = load(&url, &["--compress", "gzip", "--once"]).expect(0);
    assert!(once.out.contains(r#"{"id": 7, "#), "{}", once.out);
    let ended = load(&url, &["--max-message", "20"]).expect(1);
    assert!(ended.out.contains("a reply above 20 B (--max-message)"), "{}", ended.out);
}
