//! Thrift in all its forms. A usual text is sent back as another field without decoding; other requests are decoded.

use rpcbench_reference::{Close, Session};

use crate::dialect::{Dialect, thrift_answer};
use crate::echo::Truth;
use crate::thrift::Form;

pub(super) struct Thrift {
    form: Form,
    partial: Vec<u8>,
    calls: u64,
}

impl Thrift {
    pub(super) fn new(form: Form) -> Self {
        Self { form, partial: Vec::new(), calls: 0 }
    }
}

impl Session for Thrift {
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close> {
        let form = self.form;
        let mut bytes = std::mem::take(&mut self.partial);
        bytes.extend_from_slice(input);
        let mut rest = &bytes[..];
        while let Some((call, length)) = form.read(rest).map_err(|_| Close::Now)? {
            self.calls += 1;
            let method = str::from_utf8(call.name).unwrap_or_default();
            let reply = form
                .message(call.body)
                .and_then(|message| form.echo(method, message, Truth::Right));
            let (answer, last) = thrift_answer(form, &call, reply);
            output.extend(answer);
            if last {
                return Err(Close::Now);
            }
            rest = &rest[length..];
        }
        let taken = bytes.len() - rest.len();
        bytes.drain(..taken);
        self.partial = bytes;
        Ok(input.len())
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}
