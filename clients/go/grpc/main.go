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

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/clients/go/messages"
	"rpcbench.dev/contract/echopb"
)

const openTimeout = 10 * time.Second

// channel has one connection.
type channel struct {
	connection *grpc.ClientConn
	echo       echopb.EchoClient
	timeout    time.Duration
}

// connect uses the library's defaults, without retries.
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

// call adds a deadline to a method.
func call[Request, Reply any](
	method func(echopb.EchoClient, context.Context, *Request, ...grpc.CallOption) (*Reply, error),
) func(*channel, *Request) (*Reply, error) {
	return func(c *channel, request *Request) (*Reply, error) {
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		defer cancel()
		return method(c.echo, ctx, request)
	}
}

// undecodable marks the error for a reply that can't be decoded. The library's own message is also that of a server for a request.
const undecodable = "rpcbench: a reply that can't be decoded"

// codec wraps the library's to mark its errors.
type codec struct{ encoding.CodecV2 }

func (c codec) Unmarshal(encoded mem.BufferSlice, decoded any) error {
	if err := c.CodecV2.Unmarshal(encoded, decoded); err != nil {
		return fmt.Errorf("%s: %w", undecodable, err)
	}
	return nil
}

// brokenProtocol has prefixes of the library's error messages for replies without a valid status.
var brokenProtocol = []string{
	"stream terminated by RST_STREAM", "server closed the stream without sending trailers", "transport: ", "malformed header",
	"unexpected HTTP status code",
}

// outcome separates the server's statuses from the library's. Unavailable may be either.
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
	for _, prefix := range brokenProtocol {
		if strings.HasPrefix(result.Message(), prefix) {
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
		Methods: messages.Methods(messages.Calls[*channel]{
			Text:   call(echopb.EchoClient.Text),
			Record: call(echopb.EchoClient.Record),
			Dto:    call(echopb.EchoClient.Dto),
			Tree:   call(echopb.EchoClient.Tree),
		}),
	})
}
