module rpcbench.dev/clients/go/connect

go 1.26.0

replace (
	rpcbench.dev/clients/go/driver => ../driver
	rpcbench.dev/clients/go/messages => ../messages
	rpcbench.dev/servers/go/service => ../../../servers/go/service
)

require (
	connectrpc.com/connect v1.21.1
	rpcbench.dev/clients/go/driver v0.0.0
	rpcbench.dev/clients/go/messages v0.0.0
)

require (
	golang.org/x/sys v0.48.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	rpcbench.dev/servers/go/service v0.0.0 // indirect
)

tool (
	connectrpc.com/connect/cmd/protoc-gen-connect-go
	google.golang.org/protobuf/cmd/protoc-gen-go
)
