// The contract's Thrift service on Kitex.
package main

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/trans/gonet"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	kitex "github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/server/genericserver"

	v1 "rpcbench.dev/contract/rpcbench/v1"
	echoservice "rpcbench.dev/contract/rpcbench/v1/echo"
	"rpcbench.dev/servers/go/service"
)

type echo struct{}

func (echo) Text(_ context.Context, in *v1.TextRequest) (*v1.TextReply, error) {
	return &v1.TextReply{Echo: in.GetText()}, nil
}

func (echo) Record(_ context.Context, in *v1.RecordRequest) (*v1.RecordReply, error) {
	return &v1.RecordReply{Echo: in.GetRecord()}, nil
}

func (echo) Dto(_ context.Context, in *v1.DtoRequest) (*v1.DtoReply, error) {
	return &v1.DtoReply{Echo: in.GetDto()}, nil
}

func (echo) Tree(_ context.Context, in *v1.TreeRequest) (*v1.TreeReply, error) {
	return &v1.TreeReply{Echo: in.GetTree()}, nil
}

// unknownMethod answers calls of other methods with Thrift's exception for them. Kitex's default has type 20, which Thrift lacks.
func unknownMethod(_ context.Context, _, method string, _ any) (any, error) {
	return nil, remote.NewTransErrorWithMsg(remote.UnknownMethod, "unknown method "+method)
}

// netTransport replaces Netpoll, which has no TLS, with Kitex's transport on package net.
var netTransport = []kitex.Option{
	kitex.WithTransServerFactory(gonet.NewTransServerFactory()),
	kitex.WithTransHandlerFactory(gonet.NewSvrTransHandlerFactory()),
	// The client decides how long connections live; by default this transport closes them after two idle minutes.
	kitex.WithMaxConnIdleTime(time.Hour),
}

// server adapts Kitex's server, which is created with its listener, to package service.
type server struct {
	listening chan kitex.Server
}

func (s server) Serve(listener net.Listener) error {
	options := []kitex.Option{
		kitex.WithServerBasicInfo(&rpcinfo.EndpointBasicInfo{ServiceName: "rpcbench.v1.Echo"}),
		// Package service handles SIGTERM.
		kitex.WithExitSignal(func() <-chan error { return nil }),
	}
	if config := service.TLS(); config != nil {
		listener = tls.NewListener(listener, config)
		options = append(options, netTransport...)
	}
	server := echoservice.NewServer(&echo{}, append(options, kitex.WithListener(listener))...)
	handler := &genericserver.UnknownServiceOrMethodHandler{DefaultHandler: unknownMethod}
	if err := genericserver.RegisterUnknownServiceOrMethodHandler(server, handler); err != nil {
		return err
	}
	s.listening <- server
	return server.Run()
}

func (s server) GracefulStop() {
	server := <-s.listening
	_ = server.Stop()
}

func main() {
	service.Run("go-kitex", func() service.Server { return server{make(chan kitex.Server, 1)} })
}
