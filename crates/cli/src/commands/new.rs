//! `rpcbench new`.

use rpcbench_harness::new_server;

use crate::Verdict;
use crate::args::{NewArgs, NewWhat};
use crate::context::Context;
use crate::print::out;

pub fn new(context: &Context, args: &NewArgs) -> anyhow::Result<Verdict> {
    let NewWhat::Server { language, library, protocol } = &args.what;
    let new = new_server::create(&context.root()?, language, library, *protocol)?;
    let name = &new.name;
    out!("{}: {}", new.folder.display(), new.files.join(", "))?;
    out!("1. name the library where its language does, then: rpcbench build --lock {name}")?;
    out!("2. write the server; contract/README.md says what it must answer")?;
    out!("3. rpcbench check {name}")?;
    Ok(Verdict::Done)
}
