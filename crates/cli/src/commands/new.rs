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
    let new = new_server::create(&root, language, library, protocol.0)?;
    let name = &new.name;
    let catalog = Catalog::load(&root)?;
    let server = catalog.servers().iter().find(|server| server.name == *name);
    let locks = server.is_some_and(|server| !server.lock_command().is_empty());
    let mut steps = vec![
        "add the library to its language's list (go.mod, requirements.in, pom.xml, ...)".to_owned(),
        "write the server; contract/README.md defines the replies".to_owned(),
    ];
    // After the source: Go drops requirements that no source imports.
    steps.extend(locks.then(|| format!("rpcbench build --lock {name}")));
    steps.push("name the library's version under `versions` in server.toml".to_owned());
    steps.push(format!("rpcbench check {name}"));
    out!("{}: {}", new.folder.display(), new.files.join(", "))?;
    for (number, step) in (1..).zip(steps) {
        out!("{number}. {step}")?;
    }
    Ok(Verdict::Done)
}
