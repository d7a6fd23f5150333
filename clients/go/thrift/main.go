// Calls the contract's service with Apache Thrift's library.
package main

import (
	"context"
	"errors"
	"os"

	"github.com/apache/thrift/lib/go/thrift"

	"rpcbench.dev/clients/go/driver"
	v1 "rpcbench.dev/contract/rpcbench/v1"
)

// bufferSize in bytes, as in the library's tutorial.
const bufferSize = 8192

type connection struct {
	transport thrift.TTransport
	echo      *v1.EchoClient
}

// connect uses a framed over a buffered transport, as in the library's tutorial: a frame is one write, not two.
func connect(target driver.Target) (*connection, error) {
	config := &thrift.TConfiguration{ConnectTimeout: target.Timeout, SocketTimeout: target.Timeout}
	socket := thrift.NewTSocketConf(target.Address, config)
	transports := thrift.NewTFramedTransportFactoryConf(thrift.NewTBufferedTransportFactory(bufferSize), config)
	transport, err := transports.GetTransport(socket)
	if err != nil {
		return nil, err
	}
	if err := transport.Open(); err != nil {
		return nil, err
	}
	return &connection{transport, v1.NewEchoClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(config))}, nil
}

// call needs no deadline: the socket has a timeout. The library ignores a context's deadline while it waits for a reply.
func call[Request, Reply any](
	method func(*v1.EchoClient, context.Context, *Request) (*Reply, error),
) func(*connection, *Request) (*Reply, error) {
	return func(c *connection, request *Request) (*Reply, error) {
		return method(c.echo, context.Background(), request)
	}
}

// message is a pointer to a generated struct.
type message[M any] interface {
	*M
	thrift.TStruct
}

func decode[M any, P message[M]](encoded []byte) (*M, error) {
	var decoded P = new(M)
	return decoded, thrift.NewTDeserializer().Read(context.Background(), decoded, encoded)
}

func outcome(err error) driver.Outcome {
	var exception thrift.TApplicationException
	var transport thrift.TTransportException
	var protocol thrift.TProtocolException
	switch {
	case errors.As(err, &exception):
		return exceptionOutcome(exception)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return driver.Outcome{Kind: driver.Timeout}
	case errors.As(err, &transport):
		if transport.TypeId() == thrift.TIMED_OUT {
			return driver.Outcome{Kind: driver.Timeout}
		}
		return driver.Outcome{Kind: driver.Transport}
	case errors.As(err, &protocol):
		return driver.Outcome{Kind: driver.WrongAnswer}
	}
	return driver.Outcome{Kind: driver.Transport}
}

// exceptionOutcome separates the server's exceptions from those that the library raises for a reply to another call.
func exceptionOutcome(exception thrift.TApplicationException) driver.Outcome {
	switch exception.TypeId() {
	case thrift.BAD_SEQUENCE_ID, thrift.WRONG_METHOD_NAME, thrift.INVALID_MESSAGE_TYPE_EXCEPTION, thrift.MISSING_RESULT:
		return driver.Outcome{Kind: driver.WrongAnswer}
	}
	return driver.Outcome{Kind: driver.Status, Status: uint16(exception.TypeId())}
}

func main() {
	driver.Run(driver.Library[*connection]{
		Name: "thrift", Module: "github.com/apache/thrift",
		Connections: driver.Exclusive,
		Connect:     connect,
		Close:       func(c *connection) { _ = c.transport.Close() },
		Outcome:     outcome,
		Methods: map[string]driver.Method[*connection]{
			"text": driver.Unary[*connection, v1.TextRequest, v1.TextReply]{
				Decode: decode[v1.TextRequest],
				Call:   call((*v1.EchoClient).Text),
				Sent:   func(r *v1.TextRequest) *string { return &r.Text },
				Echoed: func(r *v1.TextReply) *string { return &r.Echo },
			},
			"record": driver.Unary[*connection, v1.RecordRequest, v1.RecordReply]{
				Decode: decode[v1.RecordRequest],
				Call:   call((*v1.EchoClient).Record),
				Sent:   func(r *v1.RecordRequest) *string { return field1(r.Record) },
				Echoed: func(r *v1.RecordReply) *string { return field1(r.Echo) },
				Equal:  func(q *v1.RecordRequest, r *v1.RecordReply) bool { return q.Record.Equals(r.Echo) },
			},
			"dto": driver.Unary[*connection, v1.DtoRequest, v1.DtoReply]{
				Decode: decode[v1.DtoRequest],
				Call:   call((*v1.EchoClient).Dto),
				Sent:   func(r *v1.DtoRequest) *string { return prop1(r.Dto) },
				Echoed: func(r *v1.DtoReply) *string { return prop1(r.Echo) },
				Equal:  func(q *v1.DtoRequest, r *v1.DtoReply) bool { return q.Dto.Equals(r.Echo) },
			},
			"tree": driver.Unary[*connection, v1.TreeRequest, v1.TreeReply]{
				Decode: decode[v1.TreeRequest],
				Call:   call((*v1.EchoClient).Tree),
				Sent:   func(r *v1.TreeRequest) *string { return name(r.Tree) },
				Echoed: func(r *v1.TreeReply) *string { return name(r.Echo) },
				Equal:  func(q *v1.TreeRequest, r *v1.TreeReply) bool { return q.Tree.Equals(r.Echo) },
			},
		},
	})
}

func field1(record *v1.FlatRecord) *string {
	if record == nil {
		return nil
	}
	return &record.Field1
}

func prop1(dto *v1.PropertyDto) *string {
	if dto == nil {
		return nil
	}
	return &dto.Prop1
}

func name(tree *v1.TreeNode) *string {
	if tree == nil {
		return nil
	}
	return &tree.Name
}
