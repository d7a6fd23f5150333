// Calls the contract's service as Connect with connect-go.
package main

import (
	"context"
	"time"

	"connectrpc.com/connect"

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/clients/go/driver/pool"
	"rpcbench.dev/clients/go/messages"
	"rpcbench.dev/contract/echopb"
)

type client struct {
	pool    *pool.Pool
	echo    echopb.EchoClient
	timeout time.Duration
}

// open uses the library's defaults, except that it accepts only uncompressed replies, like the other clients.
func open(target driver.Target) (*client, error) {
	connections := pool.New(target)
	echo := echopb.NewEchoClient(connections, "http://"+target.Address, connect.WithAcceptCompression("gzip", nil, nil))
	return &client{connections, echo, target.Timeout}, nil
}

// call adds a deadline to a method.
func call[Request, Reply any](
	method func(echopb.EchoClient, context.Context, *Request) (*Reply, error),
) func(*client, *Request) (*Reply, error) {
	return func(c *client, request *Request) (*Reply, error) {
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		defer cancel()
		return method(c.echo, ctx, request)
	}
}

// outcome separates the server's errors from the library's. A reply that is neither a message nor a Connect error breaks the protocol.
func outcome(err error) driver.Outcome {
	code := connect.CodeOf(err)
	switch {
	case code == connect.CodeDeadlineExceeded:
		return driver.Outcome{Kind: driver.Timeout}
	case connect.IsWireError(err):
		return driver.Outcome{Kind: driver.Status, Status: uint16(code)}
	case code == connect.CodeInvalidArgument:
		// The library's code for a reply that can't be decoded.
		return driver.Outcome{Kind: driver.WrongAnswer}
	}
	return driver.Outcome{Kind: driver.Transport}
}

func main() {
	driver.Run(driver.Library[*client]{
		Name: "connect-go", Module: "connectrpc.com/connect",
		Connections: driver.Pooled,
		Connect:     open,
		Close:       func(c *client) { c.pool.Close() },
		Outcome:     outcome,
		Methods: messages.Methods(messages.Calls[*client]{
			Text:   call(echopb.EchoClient.Text),
			Record: call(echopb.EchoClient.Record),
			Dto:    call(echopb.EchoClient.Dto),
			Tree:   call(echopb.EchoClient.Tree),
		}),
	})
}
