module rpcbench.dev/clients/go/grpc

go 1.26.0

replace (
	rpcbench.dev/clients/go/driver => ../driver
	rpcbench.dev/clients/go/messages => ../messages
	rpcbench.dev/servers/go/service => ../../../servers/go/service
)

require (
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
	rpcbench.dev/clients/go/driver v0.0.0
	rpcbench.dev/clients/go/messages v0.0.0
)

require (
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/grpc/cmd/protoc-gen-go-grpc v1.6.2 // indirect
	rpcbench.dev/servers/go/service v0.0.0 // indirect
)

tool (
	google.golang.org/grpc/cmd/protoc-gen-go-grpc
	google.golang.org/protobuf/cmd/protoc-gen-go
)
