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

// unknown refuses calls of other methods with Thrift's exception. The library's default is a type that Thrift does not have, 20.
func unknown(_ context.Context, _, method string, _ any) (any, error) {
	return nil, remote.NewTransErrorWithMsg(remote.UnknownMethod, "unknown method "+method)
}

// overNet replaces Netpoll, which has no TLS, by the library's transport on package net.
var overNet = []kitex.Option{
	kitex.WithTransServerFactory(gonet.NewTransServerFactory()),
	kitex.WithTransHandlerFactory(gonet.NewSvrTransHandlerFactory()),
	// The client decides how long connections live; by default this transport ends those that are idle for two minutes.
	kitex.WithMaxConnIdleTime(time.Hour),
}

// server adapts the library's server to the package service, once there is a listener.
type server struct {
	listening chan kitex.Server
}

func (s server) Serve(listener net.Listener) error {
	options := []kitex.Option{
		kitex.WithServerBasicInfo(&rpcinfo.EndpointBasicInfo{ServiceName: "rpcbench.v1.Echo"}),
		// The package service handles SIGTERM.
		kitex.WithExitSignal(func() <-chan error { return nil }),
	}
	if config := service.TLS(); config != nil {
		listener = tls.NewListener(listener, config)
		options = append(options, overNet...)
	}
	server := echoservice.NewServer(&echo{}, append(options, kitex.WithListener(listener))...)
	others := &genericserver.UnknownServiceOrMethodHandler{DefaultHandler: unknown}
	if err := genericserver.RegisterUnknownServiceOrMethodHandler(server, others); err != nil {
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
