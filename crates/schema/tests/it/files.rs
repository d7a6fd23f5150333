//! Schemas from files, and the methods in them.

use std::fs;
use std::path::Path;

use rpcbench_schema::Schema;

use crate::common::{schema, shop};

fn refusal(name: &str, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, text).unwrap();
    let error = match name.ends_with(".proto") {
        true => Schema::read(std::slice::from_ref(&file), &[], &[]).unwrap_err(),
        false => Schema::read(&[], &[], std::slice::from_ref(&file)).unwrap_err(),
    };
    error.to_string().replace(folder.path().to_str().unwrap(), "DIR")
}

#[test]
fn method_is_found_by_name_and_by_unique_end() {
    let schema = schema();
    for name in
        ["shop.v1.Orders/Put", "shop.v1.Orders.Put", "/shop.v1.Orders/Put", "Orders/Put", "Put"]
    {
        assert_eq!(schema.method(name).unwrap().path(), "/shop.v1.Orders/Put", "{name}");
    }
    let refusal = |name: &str| schema.method(name).unwrap_err().to_string();
    insta::assert_snapshot!(refusal("Get"), @"'Get' may be shop.v1.Carts/Get or shop.v1.Orders/Get; write more of its name");
    insta::assert_snapshot!(refusal("Orders/Gte"), @"unknown method 'Orders/Gte'; did you mean shop.v1.Orders/Get?");
    insta::assert_snapshot!(refusal("Nothing"), @"unknown method 'Nothing'; expected one of shop.v1.Carts/Get, shop.v1.Orders/Get, shop.v1.Orders/Put, shop.v1.Orders/Watch");
    let problem = schema.method("Watch").unwrap().not_unary().unwrap();
    assert_eq!(problem, "shop.v1.Orders/Watch streams replies; only unary methods can be called");
}

#[test]
fn imports_are_found_in_given_folders_and_above_the_file() {
    let (folder, file) = shop();
    assert!(Schema::read(std::slice::from_ref(&file), &[], &[]).is_ok());
    assert!(Schema::read(std::slice::from_ref(&file), &[folder.path().to_owned()], &[]).is_ok());
    fs::remove_file(folder.path().join("shop/money.proto")).unwrap();
    let error = Schema::read(&[file], &[], &[]).unwrap_err().to_string();
    assert!(error.contains("shop/money.proto") && error.contains("not found"), "{error}");
}

#[test]
fn protoset_reads_back_as_the_schema() {
    let schema = schema();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.bin");
    fs::write(&file, schema.to_protoset()).unwrap();
    let again = Schema::read(&[], &[], &[file]).unwrap();
    assert_eq!(again.methods(), schema.methods());
}

#[test]
fn public_imports_are_followed_however_far() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a", "import \"b.proto\"; service S { rpc Get(D) returns (D); }"),
        ("b", "import public \"c.proto\";"),
        ("c", "import public \"d.proto\";"),
        ("d", "message D { int32 x = 1; }"),
    ] {
        let text = format!("syntax = \"proto3\"; {text}");
        fs::write(folder.path().join(name).with_extension("proto"), text).unwrap();
    }
    let schema = Schema::read(&[folder.path().join("a.proto")], &[], &[]).unwrap();
    assert_eq!(schema.method("S/Get").unwrap().request(b"{\"x\": 1}").unwrap(), [8, 1]);
    let set = folder.path().join("set");
    fs::write(&set, schema.to_protoset()).unwrap();
    assert_eq!(Schema::read(&[], &[], &[set]).unwrap().methods(), ["S/Get"]);
}

#[test]
fn unusable_file_is_named_with_its_problem() {
    let syntax = refusal("a.proto", "syntax = \"proto3\";\nmessage A { strin x = 1; }\n");
    assert!(syntax.contains("a.proto:2:13") && syntax.contains("strin"), "{syntax}");
    insta::assert_snapshot!(refusal("a.proto", "edition = \"2023\";\nmessage A {}\n"), @"DIR/a.proto: sources of an edition can't be compiled; give --protoset FILE, which protoc or buf writes, or let the server describe itself by reflection");
    insta::assert_snapshot!(refusal("a.bin", "syntax"), @"DIR/a.bin: no descriptor set; write one with protoc --include_imports --descriptor_set_out=FILE, or buf build -o FILE");
    let missing = Schema::read(&[Path::new("/no/a.proto").to_owned()], &[], &[]).unwrap_err();
    insta::assert_snapshot!(missing, @"/no/a.proto: can't be read: No such file or directory (os error 2)");
    for (protos, protosets) in [
        ([Path::new("/").to_owned()].as_slice(), [].as_slice()),
        (&[], &[Path::new("/").to_owned()]),
    ] {
        let folder = Schema::read(protos, &[], protosets).unwrap_err();
        assert_eq!(folder.to_string(), "/: can't be read: it is a folder; give a file");
    }
}
