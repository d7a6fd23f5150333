// The contract's Thrift service on Apache Thrift's library.
package main

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/apache/thrift/lib/go/thrift"

	v1 "rpcbench.dev/contract/rpcbench/v1"
	"rpcbench.dev/servers/go/service"
)

// bufferSize in bytes, as in the library's tutorial.
const bufferSize = 8192

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

// server adapts the library's server, with a goroutine per connection, to package service.
type server struct {
	listening chan *thrift.TSimpleServer
}

func (s server) Serve(listener net.Listener) error {
	if config := service.TLS(); config != nil {
		listener = tls.NewListener(listener, config)
	}
	listen := func(net.Addr) (net.Listener, error) { return listener, nil }
	socket := thrift.NewTServerSocketFromFactoryTimeout(listen, listener.Addr(), 0)
	simple := thrift.NewTSimpleServer4(
		v1.NewEchoProcessor(echo{}),
		socket,
		// Framed over buffered, as in the library's tutorial: a frame is one write, not two. nil: the library's limits.
		thrift.NewTFramedTransportFactoryConf(thrift.NewTBufferedTransportFactory(bufferSize), nil),
		thrift.NewTBinaryProtocolFactoryConf(nil),
	)
	s.listening <- simple
	return simple.Serve()
}

func (s server) GracefulStop() {
	simple := <-s.listening
	_ = simple.Stop()
}

func main() {
	service.Run("go-thrift", func() service.Server { return server{make(chan *thrift.TSimpleServer, 1)} })
}
