// The contract's service on connect-go, on one port: as gRPC, as Connect, and as JSON over HTTP/1.1 and over HTTP/2.
package main

import (
	"context"
	"net/http"

	"rpcbench.dev/contract/echopb"
	"rpcbench.dev/servers/go/service/web"
)

type echo struct{}

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

func main() {
	mux := http.NewServeMux()
	mux.Handle(echopb.NewEchoHandler(echo{}))
	// gRPC needs HTTP/2, which net/http speaks without TLS if configured.
	web.Run("go-connect", mux, web.HTTP1And2())
}
