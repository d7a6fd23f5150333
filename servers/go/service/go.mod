module rpcbench.dev/servers/go/service

go 1.26.0
