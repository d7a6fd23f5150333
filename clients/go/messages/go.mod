module rpcbench.dev/clients/go/messages

go 1.26.0

replace (
	rpcbench.dev/clients/go/driver => ../driver
	rpcbench.dev/servers/go/service => ../../../servers/go/service
)

require (
	google.golang.org/protobuf v1.36.12
	rpcbench.dev/clients/go/driver v0.0.0
)

require rpcbench.dev/servers/go/service v0.0.0 // indirect
