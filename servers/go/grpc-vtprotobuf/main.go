// The contract's gRPC service on grpc-go, with messages encoded and decoded by vtprotobuf's generated code.
package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"rpcbench.dev/contract/echopb"
	"rpcbench.dev/servers/go/service"
)

var errNotUTF8 = status.Error(codes.InvalidArgument, "a string is not UTF-8")

type echo struct {
	echopb.UnimplementedEchoServer
}

func (echo) Text(_ context.Context, in *echopb.TextRequest) (*echopb.TextReply, error) {
	if !valid(in.GetText()) {
		return nil, errNotUTF8
	}
	return &echopb.TextReply{Echo: in.GetText()}, nil
}

func (echo) Record(_ context.Context, in *echopb.RecordRequest) (*echopb.RecordReply, error) {
	if !validRecord(in.GetRecord()) {
		return nil, errNotUTF8
	}
	return &echopb.RecordReply{Echo: in.GetRecord()}, nil
}

func (echo) Dto(_ context.Context, in *echopb.DtoRequest) (*echopb.DtoReply, error) {
	if !validDto(in.GetDto()) {
		return nil, errNotUTF8
	}
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
	service.Run("go-grpc-vtprotobuf", newServer)
}
