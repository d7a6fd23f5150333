module rpcbench.test/connect

go 1.26.0

require (
	connectrpc.com/grpchealth v1.5.0
	connectrpc.com/grpcreflect v1.3.1
)

require (
	connectrpc.com/connect v1.21.1 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
