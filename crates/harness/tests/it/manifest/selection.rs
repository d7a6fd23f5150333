//! Entries that names, patterns, languages and protocols select.

use std::collections::BTreeMap;

use rpcbench_harness::manifest::{Catalog, Entry, Selection};
use rpcbench_record::{ContractProtocol, Limits, Protocol, Role};

use super::{GO, LANGUAGE, SERVER, load, named, root, write};

fn names(catalog: &Catalog, patterns: &[&str]) -> Vec<String> {
    catalog.select(&named(patterns)).unwrap().iter().map(|entry| entry.name()).collect()
}

#[test]
fn plain_server_is_listed_with_its_variants() {
    let root = root();
    let variant = format!(
        "plain = true\nrepresentative = true\n{GO}[variants.gogc-off]\nnote = \"off\"\nenv = {{ GOGC = \"off\" }}\n"
    );
    write(root.path(), "servers/go/grpc/server.toml", &variant);
    let catalog = load(&root);
    assert_eq!(names(&catalog, &[]), ["go-grpc"]);
    assert_eq!(names(&catalog, &["go-grpc"]), ["go-grpc"]);
    assert_eq!(names(&catalog, &["go-grpc*"]), ["go-grpc", "go-grpc@gogc-off"]);
    let entries = catalog.select(&named(&["go-grpc*"])).unwrap();
    assert!(!entries[0].env().contains_key("GOGC"));
    assert_eq!(entries[1].env()["GOGC"], "off");
}

#[test]
fn variant_selects_all_its_protocols() {
    let root = root();
    let two = GO.replace("[\"grpc\"]", "[\"grpc\", \"json\"]");
    let server = format!("{two}[variants.a]\nnote = \"a\"\n[variants.b]\nnote = \"b\"\n");
    write(root.path(), "servers/go/grpc/server.toml", &server);
    let catalog = load(&root);
    assert_eq!(names(&catalog, &["go-grpc@a"]), ["go-grpc:grpc@a", "go-grpc:json@a"]);
    assert_eq!(names(&catalog, &["go-grpc:json"]), ["go-grpc:json@a", "go-grpc:json@b"]);
    assert_eq!(names(&catalog, &["go-grpc:json@b"]), ["go-grpc:json@b"]);
}

#[test]
fn patterns_select_entries() {
    let catalog = load(&root());
    assert_eq!(names(&catalog, &[]), ["go-grpc", "java-grpc@g1", "java-grpc@zgc"]);
    assert_eq!(names(&catalog, &["java-grpc"]), ["java-grpc@g1", "java-grpc@zgc"]);
    assert_eq!(
        names(&catalog, &["java-*", "go-grpc"]),
        ["java-grpc@g1", "java-grpc@zgc", "go-grpc"]
    );
    assert_eq!(names(&catalog, &["*@zgc"]), ["java-grpc@zgc"]);
    assert_eq!(names(&catalog, &["*@*"]), ["java-grpc@g1", "java-grpc@zgc"]);
    assert_eq!(names(&catalog, &["go-grpc", "go-grpc"]), ["go-grpc", "go-grpc#2"]);
    assert_eq!(
        names(&catalog, &["*", "go-*", "go-grpc"]),
        ["go-grpc", "java-grpc@g1", "java-grpc@zgc"]
    );
    assert_eq!(
        names(&catalog, &["java-grpc@zgc", "java-grpc"]),
        ["java-grpc@zgc", "java-grpc@zgc#2", "java-grpc@g1"]
    );
}

#[test]
fn one_entry_represents_its_language_and_protocol() {
    let root = root();
    let all = ["go-grpc", "java-grpc@g1", "java-grpc@zgc"];
    let names = |catalog: &Catalog, selection: &Selection| -> Vec<String> {
        catalog.select(selection).unwrap().iter().map(|entry| entry.name()).collect()
    };
    // None of Java's is marked.
    assert_eq!(names(&load(&root), &Selection::default()), all);
    let marked = SERVER.replace("note = \"G1\"", "note = \"G1\"\nrepresentative = true");
    write(root.path(), "servers/java/grpc/server.toml", &marked);
    write(root.path(), "servers/go/other/server.toml", GO);
    write(root.path(), "servers/go/grpc/server.toml", &format!("representative = true\n{GO}"));
    let catalog = load(&root);
    assert_eq!(names(&catalog, &Selection::default()), ["go-grpc", "java-grpc@g1"]);
    assert_eq!(names(&catalog, &Selection::ALL).len(), 4);
    // Of several protocols, the first.
    let both = GO.replace("[\"grpc\"]", "[\"json\", \"grpc\"]");
    write(root.path(), "servers/go/other/server.toml", &format!("representative = true\n{both}"));
    let default = names(&load(&root), &Selection::default());
    assert_eq!(default, ["go-grpc", "go-other:json", "java-grpc@g1"]);
    let java = |name: &str| Selection { languages: vec![name.to_owned()], ..Selection::default() };
    assert_eq!(names(&catalog, &java("java")), all[1..]);
    assert_eq!(names(&catalog, &java("Java")), all[1..]);
    let grpc =
        Selection { protocols: vec![ContractProtocol(Protocol::Grpc)], ..Selection::default() };
    assert_eq!(names(&catalog, &grpc).len(), 4);
    let go = Selection { languages: vec!["go".to_owned()], ..named(&["*-grpc"]) };
    assert_eq!(names(&catalog, &go), ["go-grpc"]);
    let error = |selection: &Selection| catalog.select(selection).unwrap_err().to_string();
    insta::assert_snapshot!(error(&java("jawa")), @"no server is written in 'jawa' (did you mean 'java'?); there are: go, java");
    let echo = Selection { protocols: vec![ContractProtocol(Protocol::TcpEcho)], ..java("go") };
    insta::assert_snapshot!(error(&echo), @"no server in go speaks tcp-echo; `rpcbench list --matrix` shows which there are");
}

#[test]
fn unknown_server_suggests_similar_names() {
    let catalog = load(&root());
    let error = |pattern: &str| catalog.select(&named(&[pattern])).unwrap_err().to_string();
    insta::assert_snapshot!(error("java-gprc"), @"no server matches 'java-gprc' (did you mean 'java-grpc'?); `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("GO-GRPC"), @"no server matches 'GO-GRPC' (did you mean 'go-grpc'?); `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("grpc-go"), @"no server matches 'grpc-go' (did you mean 'go-grpc'?); `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("java-grpc@shenandoah"), @"no server matches 'java-grpc@shenandoah' (did you mean 'java-grpc@g1' or 'java-grpc@zgc'?); `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("cobol-*"), @"no server matches 'cobol-*'; `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("java-[grpc"), @"'java-[grpc' is not a pattern: unclosed character class; missing ']'; write a server's name, or a glob such as 'java-*' or 'java-grpc@*'");
}

#[test]
fn bad_manifest_does_not_affect_others() {
    let root = root();
    write(root.path(), "servers/java/bad/server.toml", "library = 5");
    write(root.path(), "servers/cobol/grpc/server.toml", GO);
    let names = |patterns: &[&str]| -> Result<Vec<String>, String> {
        let selected = load(&root).into_selected(&named(patterns));
        let names = |entries: Vec<_>| entries.iter().map(Entry::name).collect();
        selected.map(names).map_err(|error| error.to_string())
    };
    let broken: Vec<String> = load(&root).broken().iter().map(|it| it.name.clone()).collect();
    assert_eq!(broken, ["cobol-*", "java-bad"]);
    assert_eq!(names(&[]).unwrap(), ["go-grpc", "java-grpc@g1", "java-grpc@zgc"]);
    assert_eq!(names(&["java-*"]).unwrap(), ["java-grpc@g1", "java-grpc@zgc"]);
    assert!(
        names(&["java-bad"])
            .unwrap_err()
            .contains("server.toml:1: library = 5: invalid type: integer 5")
    );
    assert!(names(&["go-grpc", "cobol-grpc@x"]).unwrap_err().contains("_language.toml"));
}

#[test]
fn clients_have_manifests_and_folders_like_servers() {
    let root = root();
    let go = LANGUAGE.replace("Java", "Go");
    write(root.path(), "clients/go/_language.toml", &go);
    write(root.path(), "clients/go/grpc/client.toml", GO);
    write(root.path(), "clients/go/driver/driver.go", "");
    let catalog = Catalog::of(root.path(), Role::Client).unwrap();
    let selection = Selection::of(Role::Client, Vec::new());
    let [entry] = &catalog.select(&selection).unwrap()[..] else { panic!("one entry") };
    assert_eq!((entry.name(), entry.planned().role), ("go-grpc".to_owned(), Role::Client));
    assert!(entry.server.build_folder.ends_with("build/clients/go-grpc"));
    let limits = Limits { cpus: 1, memory_bytes: None };
    assert!(!entry.environment(&BTreeMap::new(), None, &limits).contains_key("RPCBENCH_PORT"));
    let none = catalog.select(&Selection::of(Role::Client, vec!["go-grcp".to_owned()]));
    insta::assert_snapshot!(none.unwrap_err(), @"no client matches 'go-grcp' (did you mean 'go-grpc'?); `rpcbench list clients` shows all");
    assert_eq!(load(&root).servers().len(), 2, "servers are found as before");
}
