//! A server of grpc-go's examples, whose services only reflection describes.

use std::process::Command;

use super::peer;
use crate::bench::{look, rpcbench};
use crate::program::Program;
use crate::serve::port;

#[test]
#[ignore = "needs scripts/peers.sh"]
fn services_of_grpc_go_are_listed_called_and_loaded_by_reflection() {
    let port = port();
    let mut command = Command::new(peer("grpc-go-reflection"));
    let _server = Program::start(command.args(["-port", &port.to_string()]));
    let address = format!("127.0.0.1:{port}");
    let listed = look(&format!("load {address} --list --wait 60s")).expect(0).out;
    for method in
        ["helloworld.Greeter/SayHello\n", "Echo/ServerStreamingEcho   (streams replies)\n"]
    {
        assert!(listed.contains(method), "{listed}");
    }
    let call = |options: &[&str]| {
        let fixed = ["load", &address, "--call", "Greeter/SayHello", "-d", r#"{"name": "ann"}"#];
        Program::start(&mut rpcbench(&[&fixed, options].concat())).finish()
    };
    let once = call(&["--once"]).expect(0).out;
    assert!(once.contains("\"message\": \"Hello ann\""), "{once}");
    let load = call(&["-n", "5000", "-c", "4", "--warmup", "none"]).expect_ok_or_late();
    assert!(load.out.contains("ok (status)  5,000"), "{}", load.out);
    let streams = look(&format!("load {address} --call ServerStreamingEcho")).expect(2);
    assert!(
        streams.err.contains("streams replies; only unary methods can be called"),
        "{}",
        streams.err
    );
}
