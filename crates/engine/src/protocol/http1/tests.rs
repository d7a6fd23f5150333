//! Replies without a connection: read the same no matter how they are cut, or refused.

use proptest::prelude::*;

use super::replies::MAX_START;
use super::*;
use crate::payload::MAX_REPLY;
use crate::protocol::too_long;

/// The events of a stream of replies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Read {
    replies: Vec<(u16, String)>,
    /// True if a head announced that no other reply follows.
    last: bool,
    problem: Option<Problem>,
}

/// Reads the pieces; `ends` if the connection ends after them.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, ends: bool) -> Read {
    let (mut replies, mut read) = (Replies::new(Kept::Successes, MAX_REPLY), Read::default());
    let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
    for piece in pieces {
        let mut rest = piece;
        loop {
            match replies.next(&mut rest, |_, _| ()) {
                Ok(ReplyEvent::Head(head)) => read.last |= head.is_last(),
                Ok(ReplyEvent::Reply(Reply { status, body })) => {
                    read.replies.push((status, text(body)));
                }
                Ok(ReplyEvent::Nothing) => break,
                Err(problem) => {
                    read.problem = Some(problem);
                    return read;
                }
            }
        }
        assert!(rest.is_empty());
    }
    if ends && let Some(Reply { status, body }) = replies.end() {
        read.replies.push((status, text(body)));
    }
    read
}

/// The result of `bytes` in one piece; it must not depend on how they are cut.
fn read_anyhow(bytes: &[u8]) -> Read {
    read_cut(bytes, 1)
}

/// Same, cut at every multiple of `step`.
fn read_cut(bytes: &[u8], step: usize) -> Read {
    let whole = read([bytes], true);
    assert_eq!(read(bytes.chunks(1), true), whole, "byte by byte");
    for at in (0..bytes.len()).step_by(step) {
        let (before, after) = bytes.split_at(at);
        assert_eq!(read([before, after], true), whole, "cut at {at}");
    }
    whole
}

fn replies(bytes: &[u8]) -> Vec<(u16, String)> {
    let read = read_anyhow(bytes);
    assert_eq!((read.problem, read.last), (None, false));
    read.replies
}

fn last_reply(bytes: &[u8]) -> (u16, String) {
    let read = read_anyhow(bytes);
    assert_eq!((read.problem, read.last, read.replies.len()), (None, true, 1), "{read:?}");
    read.replies[0].clone()
}

fn problem(bytes: &[u8]) -> Problem {
    let read = read_anyhow(bytes);
    assert_eq!(read.replies, []);
    read.problem.unwrap()
}

fn ok(body: &str) -> (u16, String) {
    (200, body.to_owned())
}

#[test]
fn head_without_body_is_read_alike_when_it_repeats() {
    for head in [
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
        "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
    ] {
        let status: u16 = head[9..12].parse().unwrap();
        assert_eq!(replies(head.repeat(3).as_bytes()), vec![(status, String::new()); 3]);
    }
}

#[test]
fn reply_ends_by_its_length() {
    let one = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nright";
    assert_eq!(replies(one), [ok("right")]);
    assert_eq!(replies(&one.repeat(3)), [ok("right"), ok("right"), ok("right")]);
    let other = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 0012\r\n\r\nright, too..";
    let none = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 0\r\n\r\n";
    let stream = [&one[..], other, none, one].concat();
    assert_eq!(replies(&stream), [ok("right"), ok("right, too.."), ok(""), ok("right")]);
}

#[test]
fn changed_head_is_parsed_again() {
    let first = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: 1\r\n\r\nab";
    for (next, expected) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: 2\r\n\r\ncd"[..], ok("cd")),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 12 \r\nDate: 1\r\n\r\nabcdefghijkl",
            ok("abcdefghijkl"),
        ),
        (b"HTTP/1.1 500 OK\r\nContent-Length: 2\r\nDate: 1\r\n\r\ncd", (500, "cd".to_owned())),
        (b"HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\ncd", ok("cd")),
    ] {
        let stream = [first, next, first].concat();
        assert_eq!(replies(&stream), [ok("ab"), expected, ok("ab")]);
    }
    let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\nDate: 1\r\n\r\n";
    assert_eq!(read_anyhow(&[first, &huge[..]].concat()).problem, Some("a body above 4 GiB"));
    let none = b"HTTP/1.1 200 OK\r\nContent-Length: \r\nDate: 1\r\n\r\n";
    let problem = read_anyhow(&[first, &none[..]].concat()).problem;
    assert_eq!(problem, Some("a Content-Length that is no number"));
}

#[test]
fn reply_ends_by_its_last_chunk() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n";
    for body in [
        "5\r\nright\r\n0\r\n\r\n",
        "2\r\nri\r\n3\r\nght\r\n0\r\n\r\n",
        "1\r\nr\r\n1\r\ni\r\n1\r\ng\r\n1\r\nh\r\n1\r\nt\r\n000\r\n\r\n",
        "0005;name=value;other=\"a;b\"\r\nright\r\n0;last\r\n\r\n",
        "5 \t\r\nright\r\n0\r\nExpires: never\r\nOther: one\r\n\r\n",
        "5\r\nright\r\n0\r\nBare: LF\n\n",
    ] {
        let reply = [head, body].concat();
        assert_eq!(replies(reply.repeat(2).as_bytes()), [ok("right"), ok("right")], "{body}");
    }
    assert_eq!(replies([head, "0\r\n\r\n"].concat().as_bytes()), [ok("")]);
}

#[test]
fn chunks_that_break_the_rules_are_refused() {
    let problem = |body: &str| {
        problem(["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", body].concat().as_bytes())
    };
    for body in
        ["\r\n", "x\r\n", ";a\r\n", "-1\r\n", "5\nright", "5\rright", "1;a\nx", "0x5\r\n", " 5\r\n"]
    {
        assert_eq!(problem(body), "a chunk that can't be read", "{body:?}");
    }
    assert_eq!(problem("5\r\nright!"), "a chunk that can't be read");
    assert_eq!(problem("5\r\nright\r!"), "a chunk that can't be read");
    assert_eq!(problem("100000000\r\n"), "a chunk above 4 GiB");
    assert_eq!(problem("ffffffffffffffff5\r\n"), "a chunk above 4 GiB");
}

#[test]
fn tiny_chunks_are_bounded() {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let many = |chunk: &[u8], count| {
        read([&[&head[..], &chunk.repeat(count), b"0\r\n\r\n"].concat()[..]], false)
    };
    assert_eq!(many(b"1\r\nx\r\n", 10_000).replies, [ok(&"x".repeat(10_000))]);
    assert_eq!(many(b"a\r\n0123456789\r\n", 100_000).replies.len(), 1);
    let bomb = Some("chunks of next to nothing, without end");
    assert_eq!(many(b"1\r\nx\r\n", 100_000).problem, bomb);
    assert_eq!(many(&[b"1;", &[b'x'; 100_000][..], b"\r\nx\r\n"].concat(), 1).problem, bomb);
    let trailers = [&head[..], b"0\r\n", &b"A: b\r\n".repeat(20_000)].concat();
    assert_eq!(read([&trailers[..]], false).problem, bomb);
}

#[test]
fn bodies_above_the_limit_are_refused_with_any_framing() {
    let length = |length| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    assert_eq!(problem((length(MAX_REPLY + 1) + "x").as_bytes()), too_long(MAX_REPLY));
    assert_eq!(read([(length(MAX_REPLY) + "x").as_bytes()], false).problem, None);
    let mib = vec![b'x'; 1 << 20];
    for (head, before, after) in [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "100000\r\n", "\r\n"),
        ("HTTP/1.1 500 No\r\n\r\n", "", ""),
    ] {
        let piece = [before.as_bytes(), &mib, after.as_bytes()].concat();
        let pieces =
            |count| std::iter::once(head.as_bytes()).chain(std::iter::repeat_n(&piece[..], count));
        assert_eq!(read(pieces(64), false).problem, None);
        assert_eq!(read(pieces(65), false).problem, Some(too_long(MAX_REPLY)));
    }
}

#[test]
fn reply_without_length_ends_with_the_connection() {
    assert_eq!(last_reply(b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\nright"), ok("right"));
    assert_eq!(last_reply(b"HTTP/1.0 200 OK\r\n\r\n"), ok(""));
    let unfinished = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nrigh";
    assert_eq!(read_anyhow(unfinished).replies, []);
}

#[test]
fn connection_ends_where_the_reply_says_so() {
    for field in ["Connection: close", "connection: Keep-Alive , CLOSE", "Connection:close"] {
        let reply = format!("HTTP/1.1 200 OK\r\n{field}\r\nContent-Length: 5\r\n\r\nright");
        assert_eq!(last_reply(reply.as_bytes()), ok("right"), "{field}");
    }
    assert_eq!(last_reply(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nright"), ok("right"));
    let kept = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nright";
    assert_eq!(replies(&kept.repeat(2)), [ok("right"), ok("right")]);
    let closing = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nright";
    let open = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: other\r\n\r\nright";
    assert!(read_anyhow(&[&open[..], closing].concat()).last);
}

#[test]
fn some_statuses_have_no_body() {
    let after = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
    for head in [
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        let statuses: Vec<u16> =
            replies(&[head.as_bytes(), after].concat()).iter().map(|(status, _)| *status).collect();
        assert_eq!(statuses.len(), 2, "{head}");
        assert_eq!(statuses[1], 200);
    }
}

#[test]
fn interim_replies_are_passed_over_up_to_a_bound() {
    let interim = b"HTTP/1.1 103 Early Hints\r\nLink: a\r\nContent-Length: 3\r\n\r\n";
    let after = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
    let stream = [&interim.repeat(16)[..], after, &interim.repeat(16), after].concat();
    assert_eq!(replies(&stream), [ok("ab"), ok("ab")]);
    let most = interim.repeat(16);
    let rounds = [&after[..], &most].repeat(3);
    assert_eq!(read(rounds, false).replies, [ok("ab"), ok("ab"), ok("ab")]);
    let many = interim.repeat(17);
    assert_eq!(problem(&many), "replies of status 1xx without end");
    let switching = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n";
    assert!(problem(switching).starts_with("101 Switching Protocols"));
}

#[test]
fn lengths_that_contradict_each_other_are_refused() {
    let problem =
        |fields: &str| problem(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\nright").as_bytes());
    let two = "more than one Content-Length";
    assert_eq!(problem("Content-Length: 5\r\nContent-Length: 6"), two);
    assert_eq!(problem("Content-Length: 5\r\ncontent-length: 5"), two);
    let both = "both Content-Length and Transfer-Encoding";
    assert_eq!(problem("Content-Length: 5\r\nTransfer-Encoding: chunked"), both);
    assert_eq!(problem("Transfer-Encoding: chunked\r\nContent-Length: 5"), both);
    let other = "a Transfer-Encoding other than chunked";
    assert_eq!(problem("Transfer-Encoding: gzip, chunked"), other);
    assert_eq!(problem("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), other);
    for value in ["5, 5", "+5", "-1", "0x5", "5a", "", "5\u{0660}"] {
        let said = problem(&format!("Content-Length: {value}"));
        assert_eq!(said, "a Content-Length that is no number", "{value}");
    }
    assert_eq!(problem("Content-Length: 18446744073709551621"), "a body above 4 GiB");
    let old = b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(read_anyhow(old).problem, Some("chunks in a reply of HTTP/1.0"));
}

#[test]
fn unusual_heads_are_read_or_refused() {
    assert_eq!(replies(b"HTTP/1.1 200\nContent-Length: 2\n\nab"), [ok("ab")]);
    let folded = b"HTTP/1.1 200 OK\r\nX: one\r\n  two\r\nContent-Length: 2\r\n\r\nab";
    assert_eq!(replies(folded), [ok("ab")]);
    let fold = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n 3\r\n\r\nab";
    assert_eq!(problem(fold), "a Content-Length that is no number");
    let unread = "a head that can't be read";
    for head in [
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.7 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
    ] {
        assert_eq!(problem(head.as_bytes()), unread, "{head}");
    }
    assert_eq!(problem(b"HTTP/1.1 099 No\r\n\r\n"), "a status below 100");
    let not_http = "a reply that is not HTTP/1";
    for bytes in
        [&b"\0\0\0\x05right"[..], b"HTTP/2 200\r\n", b"<html>", b"\r\nHTTP/1.1 200 OK\r\n\r\n"]
    {
        assert_eq!(problem(bytes), not_http);
    }
}

#[test]
fn heads_are_bounded_in_bytes_and_in_fields() {
    let head = |fields: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{fields}\r\n");
    let long = head(&"A: ".repeat(30_000));
    assert_eq!(read(long.as_bytes().chunks(1000), false).problem, Some("a head above 64 KiB"));
    let endless = read(std::iter::repeat_n(&b"HTTP/1.1 200 OK\r\n"[..], 10_000), false).problem;
    assert_eq!(endless, Some("a head above 64 KiB"));
    assert_eq!(replies(head(&"A: b\r\n".repeat(127)).as_bytes()), [ok("")]);
    assert_eq!(problem(head(&"A: b\r\n".repeat(128)).as_bytes()), "a head of more than 128 fields");
}

#[test]
fn only_the_beginning_of_an_error_body_is_kept() {
    let body = "why ".repeat(20_000);
    let reply = format!("HTTP/1.1 503 No\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // Each cut reads all of it.
    let replies = |text: &str| read_cut(text.as_bytes(), 4999).replies;
    assert_eq!(
        replies(&reply.repeat(2)),
        [(503, body[..MAX_START].to_owned()), (503, body[..MAX_START].to_owned())]
    );
    let chunked: String = body
        .as_bytes()
        .chunks(150)
        .map(|part| format!("{:x}\r\n{}\r\n", part.len(), String::from_utf8_lossy(part)))
        .collect();
    let reply = format!("HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}0\r\n\r\n");
    assert_eq!(replies(&reply), [(503, body[..MAX_START].to_owned())]);
}

fn any_reply() -> impl Strategy<Value = (String, String)> {
    let body = prop::collection::vec(97_u8..123, 0..300);
    let sizes = prop::collection::vec(1_usize..100, 1..5);
    (body, sizes, 0..4).prop_map(|(body, sizes, form)| {
        let body = String::from_utf8(body).unwrap();
        let reply = match form {
            0 => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
            1 => format!(
                "HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len() % 3,
                body.len()
            ),
            2 => format!(
                "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\nContent-Length:{}\n\n{body}",
                body.len()
            ),
            _ => chunked(&body, &sizes),
        };
        (reply, body)
    })
}

fn chunked(body: &str, sizes: &[usize]) -> String {
    let mut reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
    let (mut rest, mut sizes) = (body, sizes.iter().cycle());
    while !rest.is_empty() {
        let (chunk, tail) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
        reply += &format!("{:X}\r\n{chunk}\r\n", chunk.len());
        rest = tail;
    }
    reply + "0\r\n\r\n"
}

proptest! {
    #[test]
    fn replies_of_all_kinds_may_follow_one_another_and_be_cut_anywhere(
        sent in prop::collection::vec(any_reply(), 1..10),
        cuts in prop::collection::vec(1_usize..400, 1..20),
    ) {
        let stream: String = sent.iter().map(|(reply, _)| reply.as_str()).collect();
        let expected: Vec<_> = sent.iter().map(|(_, body)| ok(body)).collect();
        let (mut rest, mut pieces, mut cuts) = (stream.as_bytes(), Vec::new(), cuts.iter().cycle());
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(rest.len().min(*cuts.next().unwrap()));
            pieces.push(piece);
            rest = tail;
        }
        let read = read(pieces, false);
        prop_assert_eq!((read.problem, read.replies), (None, expected));
    }

    #[test]
    fn any_bytes_mean_the_same_for_any_split(bytes in "(HTTP/1.1 [12]0[014] OK\r\n|Content-Length: [0-9]\r\n|Transfer-Encoding: chunked\r\n|[0-5]\r\n|\r\n|abcd){0,20}") {
        read_anyhow(bytes.as_bytes());
    }
}
