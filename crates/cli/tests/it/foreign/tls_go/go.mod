module rpcbench.test/tls

go 1.26.0
