//! `rpcbench new`.

use rpcbench_harness::manifest::Catalog;
use rpcbench_harness::new_server;

use crate::Verdict;
use crate::args::{NewArgs, NewWhat};
use crate::context::Context;
use crate::print::out;

pub fn new(context: &Context, args: &NewArgs) -> anyhow::Result<Verdict> {
    let NewWhat::Server { language, library, protocol } = &args.what;
    let root = context.root()?;
    let new = new_server::create(&root, language, library, *protocol)?;
    let name = &new.name;
    let catalog = Catalog::load(&root)?;
    let server = catalog.servers().iter().find(|server| server.name == *name);
    let lock = match server.is_some_and(|server| !server.lock_command().is_empty()) {
        true => format!(", then: rpcbench build --lock {name}"),
        false => String::new(),
    };
    out!("{}: {}", new.folder.display(), new.files.join(", "))?;
    out!(
        "1. add the library to its language's list (go.mod, requirements.in, pom.xml, ...){lock}"
    )?;
    out!("2. write the server; contract/README.md defines the replies")?;
    out!("3. rpcbench check {name}")?;
    Ok(Verdict::Done)
}
