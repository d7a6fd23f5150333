// The contract's gRPC service on grpc-go.
package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"rpcbench.dev/contract/echopb"
	"rpcbench.dev/servers/go/service"
)

type echo struct {
	echopb.UnimplementedEchoServer
}

func (echo) Text(_ context.Context, in *echopb.TextRequest) (*echopb.TextReply, error) {
	return &echopb.TextReply{Echo: in.GetText()}, nil
}

func (echo) Record(_ context.Context, in *echopb.RecordRequest) (*echopb.RecordReply, error) {
	return &echopb.RecordReply{Echo: in.GetRecord()}, nil
}

func (echo) Dto(_ context.Context, in *echopb.DtoRequest) (*echopb.DtoReply, error) {
	return &echopb.DtoReply{Echo: in.GetDto()}, nil
}

func (echo) Tree(_ context.Context, in *echopb.TreeRequest) (*echopb.TreeReply, error) {
	return &echopb.TreeReply{Echo: in.GetTree()}, nil
}

// newServer uses the library's defaults: messages up to 4 MiB, no limit on streams per connection, a goroutine per call.
func newServer() service.Server {
	var options []grpc.ServerOption
	if config := service.TLS(); config != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	server := grpc.NewServer(options...)
	echopb.RegisterEchoServer(server, echo{})
	return server
}

func main() {
	service.Run("go-grpc", newServer)
}
