//! `rpcbench new`.

use std::sync::Arc;

use rpcbench_harness::manifest::{Catalog, Server};
use rpcbench_harness::scaffold::{self, Wanted};
use rpcbench_record::{Protocol, Role};

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
    let protocol = given.protocol.0;
    let mut steps = steps(role, &new.name, locks);
    if protocol != Protocol::Json {
        steps.insert(0, other_protocol(&catalog, (&new.name, language), protocol));
    }
    for (number, step) in (1..).zip(steps) {
        out!("{number}. {step}")?;
    }
    Ok(Verdict::Done)
}

/// What to do if the template is of a JSON server instead of the requested protocol.
fn other_protocol(catalog: &Catalog, (new, language): (&str, &str), protocol: Protocol) -> String {
    let speaks = |it: &&Arc<Server>| {
        it.language == language && it.name != new && it.protocols.contains(&protocol)
    };
    match catalog.servers().iter().find(speaks) {
        Some(example) => {
            let (name, folder) = (&example.name, example.folder.display());
            format!(
                "replace the template's packages, which are for JSON, by those for {protocol}; {name} has some, and builds its generated code: {folder}"
            )
        }
        None => format!(
            "replace the template's packages, which are for JSON, by those for {protocol}; no other {language} entry speaks it"
        ),
    }
}

/// The remaining steps for the entry `name`.
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
    // After editing the source: Go drops requirements that no source imports.
    steps.extend(locks.then(|| format!("rpcbench build --lock{option} {name}")));
    steps.push(format!("name the library's version under `versions` in {role}.toml"));
    steps.push(format!("rpcbench check{option} {name}"));
    steps
}
