//! `rpcbench new`.

use rpcbench_harness::manifest::Catalog;
use rpcbench_harness::scaffold::{self, Wanted};
use rpcbench_record::Role;

use crate::Verdict;
use crate::args::{NewArgs, NewWhat};
use crate::context::Context;
use crate::print::out;

pub fn new(context: &Context, args: &NewArgs) -> anyhow::Result<Verdict> {
    let (role, given) = match &args.what {
        NewWhat::Server(given) => (Role::Server, given),
        NewWhat::Client(given) => (Role::Client, given),
    };
    let root = context.root()?;
    let (language, library) = (&*given.language, &*given.library);
    let new =
        scaffold::create(&root, Wanted { role, language, library, protocol: given.protocol.0 })?;
    out!("{}: {}", new.folder.display(), new.files.join(", "))?;
    let catalog = Catalog::of(&root, role)?;
    let entry = catalog.servers().iter().find(|entry| entry.name == new.name);
    let locks = entry.is_some_and(|entry| !entry.lock_command().is_empty());
    for (number, step) in (1..).zip(steps(role, &new.name, locks)) {
        out!("{number}. {step}")?;
    }
    Ok(Verdict::Done)
}

/// What is left to do for the entry `name`.
fn steps(role: Role, name: &str, locks: bool) -> Vec<String> {
    let (contract, option) = match role {
        Role::Server => ("contract/README.md defines the replies", ""),
        Role::Client => {
            ("clients/README.md shows one, contract/clients.md has the rules", " --clients")
        }
    };
    let mut steps = vec![
        "add the library to its language's list (go.mod, requirements.in, pom.xml, ...)".to_owned(),
        format!("write the {role}; {contract}"),
    ];
    // After the source: Go drops requirements that no source imports.
    steps.extend(locks.then(|| format!("rpcbench build --lock{option} {name}")));
    steps.push(format!("name the library's version under `versions` in {role}.toml"));
    steps.push(format!("rpcbench check{option} {name}"));
    steps
}
