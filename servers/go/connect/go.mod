module rpcbench.dev/servers/go/connect

go 1.26.0

replace rpcbench.dev/servers/go/service => ../service

require (
	connectrpc.com/connect v1.21.1
	google.golang.org/protobuf v1.36.12
	rpcbench.dev/servers/go/service v0.0.0
)
