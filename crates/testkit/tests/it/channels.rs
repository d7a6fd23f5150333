//! Servers in front of which another process accepts connections.

use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use rpcbench_testkit::{Channel, Server};

use crate::client::Client;

#[test]
fn each_channel_leads_to_the_server_behind_it() {
    for (channel, name) in Channel::ALL {
        assert_eq!(name.parse(), Ok(channel));
        let server = Server::start("honest".parse().unwrap()).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let [front, back] = channel.open().unwrap();
        channel.serve(back, server.address()).unwrap();
        thread::spawn(move || channel.pass_on(&listener, front));
        let long = "x".repeat(200_000);
        let clients = [(); 2].map(|()| Client::connect(address));
        for client in &clients {
            client.text("abc").unwrap();
            assert_eq!(client.text(&long).unwrap().message().len(), long.len() + 4, "{name}");
        }
        assert_eq!((server.calls(), server.connections()), (4, 2), "{name}");
    }
}
