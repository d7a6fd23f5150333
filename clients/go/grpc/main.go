// Calls the contract's service with grpc-go.
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/contract/echopb"
)

const openTimeout = 10 * time.Second

// channel has one connection.
type channel struct {
	connection *grpc.ClientConn
	echo       echopb.EchoClient
	timeout    time.Duration
}

// The library's defaults, without retries.
func connect(target driver.Target) (*channel, error) {
	connection, err := grpc.NewClient("passthrough:///"+target.Address,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
	if err != nil {
		return nil, err
	}
	connection.Connect()
	return &channel{connection, echopb.NewEchoClient(connection), target.Timeout}, nil
}

func await(c *channel) error {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	for {
		state := c.connection.GetState()
		if state == connectivity.Ready {
			return nil
		}
		if state == connectivity.TransientFailure || !c.connection.WaitForStateChange(ctx, state) {
			return fmt.Errorf("can't connect to %s: %v", c.connection.Target(), state)
		}
	}
}

// call makes a call with a deadline.
func call[Request, Reply any](
	method func(echopb.EchoClient, context.Context, *Request, ...grpc.CallOption) (*Reply, error),
) func(*channel, *Request) (*Reply, error) {
	return func(c *channel, request *Request) (*Reply, error) {
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		defer cancel()
		return method(c.echo, ctx, request)
	}
}

// message is a pointer to a generated message.
type message[M any] interface {
	*M
	proto.Message
}

func decode[M any, P message[M]](encoded []byte) (*M, error) {
	var decoded P = new(M)
	return decoded, proto.Unmarshal(encoded, decoded)
}

// undecodable is in the library's error if a reply can't be decoded. Its own words are those of a server that can't decode a request.
const undecodable = "rpcbench: a reply that can't be decoded"

// codec is the library's, with another error.
type codec struct{ encoding.CodecV2 }

func (c codec) Unmarshal(encoded mem.BufferSlice, decoded any) error {
	if err := c.CodecV2.Unmarshal(encoded, decoded); err != nil {
		return fmt.Errorf("%s: %w", undecodable, err)
	}
	return nil
}

// brokenProtocol begins the messages of errors that the library makes when a reply has no valid status.
var brokenProtocol = []string{
	"stream terminated by RST_STREAM", "server closed the stream without sending trailers", "transport: ", "malformed header",
	"unexpected HTTP status code",
}

// outcome tells the server's statuses from the library's. Unavailable may be either.
func outcome(err error) driver.Outcome {
	result := status.Convert(err)
	switch {
	case result.Code() == codes.DeadlineExceeded:
		return driver.Outcome{Kind: driver.Timeout}
	case result.Code() == codes.Unavailable:
		return driver.Outcome{Kind: driver.Transport}
	case strings.Contains(result.Message(), undecodable):
		return driver.Outcome{Kind: driver.WrongAnswer}
	}
	for _, beginning := range brokenProtocol {
		if strings.HasPrefix(result.Message(), beginning) {
			return driver.Outcome{Kind: driver.Transport}
		}
	}
	return driver.Outcome{Kind: driver.Status, Status: uint16(result.Code())}
}

func main() {
	encoding.RegisterCodecV2(codec{encoding.GetCodecV2(encodingproto.Name)})
	driver.Run(driver.Library[*channel]{
		Name: "grpc-go", Module: "google.golang.org/grpc",
		Connections: driver.Multiplexed,
		Connect:     connect,
		Await:       await,
		Close:       func(c *channel) { _ = c.connection.Close() },
		Outcome:     outcome,
		Methods: map[string]driver.Method[*channel]{
			"text": driver.Unary[*channel, echopb.TextRequest, echopb.TextReply]{
				Decode: decode[echopb.TextRequest],
				Call:   call(echopb.EchoClient.Text),
				Sent:   func(r *echopb.TextRequest) *string { return &r.Text },
				Echoed: func(r *echopb.TextReply) *string { return &r.Echo },
			},
			"record": driver.Unary[*channel, echopb.RecordRequest, echopb.RecordReply]{
				Decode: decode[echopb.RecordRequest],
				Call:   call(echopb.EchoClient.Record),
				Sent:   func(r *echopb.RecordRequest) *string { return field1(r.Record) },
				Echoed: func(r *echopb.RecordReply) *string { return field1(r.Echo) },
				Equal:  func(q *echopb.RecordRequest, r *echopb.RecordReply) bool { return proto.Equal(q.Record, r.Echo) },
			},
			"dto": driver.Unary[*channel, echopb.DtoRequest, echopb.DtoReply]{
				Decode: decode[echopb.DtoRequest],
				Call:   call(echopb.EchoClient.Dto),
				Sent:   func(r *echopb.DtoRequest) *string { return prop1(r.Dto) },
				Echoed: func(r *echopb.DtoReply) *string { return prop1(r.Echo) },
				Equal:  func(q *echopb.DtoRequest, r *echopb.DtoReply) bool { return proto.Equal(q.Dto, r.Echo) },
			},
			"tree": driver.Unary[*channel, echopb.TreeRequest, echopb.TreeReply]{
				Decode: decode[echopb.TreeRequest],
				Call:   call(echopb.EchoClient.Tree),
				Sent:   func(r *echopb.TreeRequest) *string { return name(r.Tree) },
				Echoed: func(r *echopb.TreeReply) *string { return name(r.Echo) },
				Equal:  func(q *echopb.TreeRequest, r *echopb.TreeReply) bool { return proto.Equal(q.Tree, r.Echo) },
			},
		},
	})
}

func field1(record *echopb.FlatRecord) *string {
	if record == nil {
		return nil
	}
	return &record.Field1
}

func prop1(dto *echopb.PropertyDto) *string {
	if dto == nil {
		return nil
	}
	return &dto.Prop1
}

func name(tree *echopb.TreeNode) *string {
	if tree == nil {
		return nil
	}
	return &tree.Name
}
