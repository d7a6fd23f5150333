module rpcbench.dev/servers/go/connect

go 1.26.0

replace rpcbench.dev/servers/go/service => ../service

require rpcbench.dev/servers/go/service v0.0.0

require (
	connectrpc.com/connect v1.21.1 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

tool (
	connectrpc.com/connect/cmd/protoc-gen-connect-go
	google.golang.org/protobuf/cmd/protoc-gen-go
)
