use rpcbench_contract::Encoding;

use super::*;
use crate::echo_payload::EchoPayload;
use crate::gzip::gzip;

/// The right reply: the request with another tag.
fn reply(echo: &EchoPayload, call: Call) -> Vec<u8> {
    let mut reply = echo.corpus.request_with(call.request as usize, call.nonce.digits());
    reply[0] = 0x12;
    reply
}

fn call(request: usize, nonce: u32) -> Call {
    Call { request: request as u32, nonce: Nonce::new(nonce), ..Call::default() }
}

fn check(
    checker: &mut Checker,
    payload: &dyn Payload,
    call: Call,
    reply: &[u8],
) -> Result<(), String> {
    if checker.is_right(&call, reply) {
        return Ok(());
    }
    checker.judge_success(payload, (call, reply), &mut Recorder::new(Protocol::Grpc, None))
}

#[test]
fn remembered_reply_is_right_only_with_the_calls_own_nonce() {
    for shape in ["text:1", "text:5", "text:16", "text:100", "record", "dto", "tree"] {
        let echo = EchoPayload::new(shape, Encoding::Protobuf);
        let mut checker = Checker::new(&echo, 2);
        for index in 0..echo.len() {
            let calls = [0x0123_4567, 0x0123_4569, 0x0123_456b, 77].map(|it| call(index, it));
            for (before, next) in calls.into_iter().zip(calls.into_iter().skip(1)) {
                assert_eq!(check(&mut checker, &echo, before, &reply(&echo, before)), Ok(()));
                assert!(check(&mut checker, &echo, next, &reply(&echo, before)).is_err());
                assert_eq!(check(&mut checker, &echo, next, &reply(&echo, next)), Ok(()));
                assert_eq!(check(&mut checker, &echo, before, &reply(&echo, before)), Ok(()));
                // Compared, and patched for the next call.
                let later = Call { nonce: before.nonce.plus(2), ..before };
                assert_eq!(checker.right[index].nonce, later.nonce);
                assert_eq!(*checker.right[index].bytes, reply(&echo, later));
            }
        }
    }
}

#[test]
fn replies_to_requests_with_several_patches_are_judged_each_time() {
    struct Twice(Filler);

    impl Payload for Twice {
        fn target(&self, index: usize) -> &Target {
            self.0.target(index)
        }

        fn len(&self) -> usize {
            self.0.len()
        }

        fn request(&self, index: usize) -> &[u8] {
            self.0.request(index)
        }

        fn patches(&self, index: usize) -> &[Patch] {
            self.0.patches(index)
        }

        fn reply_check(&self) -> ReplyCheck {
            ReplyCheck::Echo
        }

        fn verify(&self, _: usize, sent: &[u8], reply: &[u8]) -> Result<(), String> {
            if sent == reply { Ok(()) } else { Err("another".to_owned()) }
        }
    }

    let payload = Twice(Filler::patched(8, &[1..3, 4..7]));
    let mut checker = Checker::new(&payload, 1);
    for (nonce, reply) in [(0xab, b".JK.@JK."), (0xcd, b".LM.@LM.")] {
        assert_eq!(check(&mut checker, &payload, call(0, nonce), reply), Ok(()));
        assert!(check(&mut checker, &payload, call(0, nonce + 1), reply).is_err());
    }
}

/// Every reply is wrong, and `a` fails the expectation.
struct Wrong(ReplyCheck, Filler);

impl Payload for Wrong {
    fn target(&self, index: usize) -> &Target {
        self.1.target(index)
    }

    fn len(&self) -> usize {
        1
    }

    fn request(&self, index: usize) -> &[u8] {
        self.1.request(index)
    }

    fn reply_check(&self) -> ReplyCheck {
        self.0
    }

    fn expect(&self, _: usize, reply: &[u8]) -> Result<(), String> {
        if reply == b"a" { Err("a".to_owned()) } else { Ok(()) }
    }

    fn verify(&self, _: usize, _: &[u8], _: &[u8]) -> Result<(), String> {
        Err("wrong".to_owned())
    }
}

#[test]
fn reply_check_decides_which_replies_are_judged() {
    let third = NonZeroU32::new(3).unwrap();
    for (reply_check, expected) in [
        (ReplyCheck::Status, 0),
        (ReplyCheck::Each, 9),
        (ReplyCheck::Sample(third), 3),
        (ReplyCheck::Expect(None), 3),
        (ReplyCheck::Expect(NonZeroU32::new(2)), 6),
        (ReplyCheck::Echo, 9),
    ] {
        let payload = Wrong(reply_check, Filler::of(&[1]));
        let mut checker = Checker::new(&payload, 1);
        let replies = [&b"a"[..], b"b", b""].repeat(3);
        let wrong =
            replies.iter().filter(|it| check(&mut checker, &payload, call(0, 0), it).is_err());
        assert_eq!(wrong.count(), expected, "{reply_check:?}");
    }
}

#[test]
fn rejected_and_long_replies_are_not_passed_over() {
    let mut payload = Filler { max_reply: 2, ..Filler::of(&[1]) };
    for rejects_success in [false, true] {
        payload.targets[0].rejects_success = rejects_success;
        let mut checker = Checker::new(&payload, 1);
        for (reply, fits) in [(&b"ab"[..], true), (b"abc", false), (b"ab", true), (b"abc", false)] {
            let right = check(&mut checker, &payload, call(0, 0), reply).is_ok();
            assert_eq!(right, fits && !rejects_success, "{reply:?}");
        }
    }
}

#[test]
fn content_of_every_reply_is_limited_if_the_payload_asks_for_it() {
    let long = gzip(&[0; 101]);
    assert!(long.len() < 100);
    for (limits, expected) in [(true, [false; 3]), (false, [true; 3])] {
        let payload = Filler { max_reply: 100, limits_content: limits, ..Filler::of(&[1]) };
        let mut checker = Checker::new(&payload, 1);
        let long = [(); 3].map(|()| check(&mut checker, &payload, call(0, 0), &long).is_ok());
        assert_eq!(long, expected);
        assert!(check(&mut checker, &payload, call(0, 0), &gzip(&[0; 100])).is_ok());
    }
}

#[test]
fn empty_reply_is_remembered() {
    let payload = Filler { reply_check: ReplyCheck::Echo, ..Filler::of(&[0]) };
    let mut checker = Checker::new(&payload, 1);
    assert_eq!(check(&mut checker, &payload, call(0, 0), b""), Ok(()));
    // If it were judged again, it would be wrong.
    let wrong = Wrong(ReplyCheck::Echo, payload);
    assert_eq!(check(&mut checker, &wrong, call(0, 0), b""), Ok(()));
}

#[test]
fn ambiguous_nonce_position_is_not_used() {
    let digits = Nonce::new(0xab).digits();
    assert_eq!(find_nonce(&digits, 2, b"xxJK"), Some(2..4));
    assert_eq!(find_nonce(&digits, 2, b"JKJK"), None);
    assert_eq!(find_nonce(&digits, 2, b"KJ"), None);
    assert_eq!(find_nonce(&digits, 0, b""), Some(0..0));
}
