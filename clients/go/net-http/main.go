// Calls the contract's service as JSON with net/http and encoding/json.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"sync/atomic"
	"time"

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/servers/go/service/echojson"
)

// client is a pool of connections.
type client struct {
	http    *http.Client
	url     string
	timeout time.Duration
	// A connection closes after this many calls; 0: never.
	callsPerConnection int64
	calls              atomic.Int64
}

// The library's defaults, but for as many idle connections as there may be open ones, which stay open.
func connect(target driver.Target) (*client, error) {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: target.Timeout}).DialContext,
		MaxConnsPerHost:     target.Connections,
		MaxIdleConnsPerHost: target.Connections,
		DisableKeepAlives:   target.CallsPerConnection == 1,
	}
	return &client{
		http:               &http.Client{Transport: transport},
		url:                "http://" + target.Address + "/rpcbench.v1.Echo/",
		timeout:            target.Timeout,
		callsPerConnection: int64(target.CallsPerConnection),
	}, nil
}

// isLast reports whether a connection should close: after every n-th call one does, and has made n on average.
func (c *client) isLast() bool {
	return c.callsPerConnection > 0 && c.calls.Add(1)%c.callsPerConnection == 0
}

// statusError is an answer without a reply.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("HTTP status %d", int(e)) }

// replyError is a body that can't be decoded.
type replyError struct{ error }

func post[Request, Reply any](method string) func(*client, *Request) (*Reply, error) {
	return func(c *client, request *Request) (*Reply, error) {
		encoded, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		defer cancel()
		out, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+method, bytes.NewReader(encoded))
		if err != nil {
			return nil, err
		}
		// Without a way to read the body again, the library repeats no call.
		out.GetBody = nil
		out.Header.Set("Content-Type", "application/json")
		out.Close = c.isLast()
		return exchange[Reply](c, out)
	}
}

func exchange[Reply any](c *client, request *http.Request) (*Reply, error) {
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, statusError(answer.StatusCode)
	}
	reply := new(Reply)
	if err := json.Unmarshal(body, reply); err != nil {
		return nil, replyError{err}
	}
	return reply, nil
}

func outcome(err error) driver.Outcome {
	var status statusError
	switch {
	case errors.As(err, &status):
		return driver.Outcome{Kind: driver.Status, Status: uint16(status)}
	case errors.As(err, &replyError{}):
		return driver.Outcome{Kind: driver.WrongAnswer}
	case errors.Is(err, context.DeadlineExceeded):
		return driver.Outcome{Kind: driver.Timeout}
	}
	return driver.Outcome{Kind: driver.Transport}
}

func decode[Request any](encoded []byte) (*Request, error) {
	request := new(Request)
	return request, json.Unmarshal(encoded, request)
}

func main() {
	driver.Run(driver.Library[*client]{
		Name:        "net/http",
		Connections: driver.Pooled,
		Connect:     connect,
		Close:       func(c *client) { c.http.CloseIdleConnections() },
		Outcome:     outcome,
		Methods: map[string]driver.Method[*client]{
			"text": driver.Unary[*client, echojson.TextRequest, echojson.TextReply]{
				Decode: decode[echojson.TextRequest],
				Call:   post[echojson.TextRequest, echojson.TextReply]("Text"),
				Sent:   func(r *echojson.TextRequest) *string { return &r.Text },
				Echoed: func(r *echojson.TextReply) *string { return &r.Echo },
			},
			"record": driver.Unary[*client, echojson.RecordRequest, echojson.RecordReply]{
				Decode: decode[echojson.RecordRequest],
				Call:   post[echojson.RecordRequest, echojson.RecordReply]("Record"),
				Sent:   func(r *echojson.RecordRequest) *string { return field1(r.Record) },
				Echoed: func(r *echojson.RecordReply) *string { return field1(r.Echo) },
				Equal: func(q *echojson.RecordRequest, r *echojson.RecordReply) bool {
					return reflect.DeepEqual(q.Record, r.Echo)
				},
			},
			"dto": driver.Unary[*client, echojson.DtoRequest, echojson.DtoReply]{
				Decode: decode[echojson.DtoRequest],
				Call:   post[echojson.DtoRequest, echojson.DtoReply]("Dto"),
				Sent:   func(r *echojson.DtoRequest) *string { return prop1(r.Dto) },
				Echoed: func(r *echojson.DtoReply) *string { return prop1(r.Echo) },
				Equal:  func(q *echojson.DtoRequest, r *echojson.DtoReply) bool { return *q.Dto == *r.Echo },
			},
			"tree": driver.Unary[*client, echojson.TreeRequest, echojson.TreeReply]{
				Decode: decode[echojson.TreeRequest],
				Call:   post[echojson.TreeRequest, echojson.TreeReply]("Tree"),
				Sent:   func(r *echojson.TreeRequest) *string { return name(r.Tree) },
				Echoed: func(r *echojson.TreeReply) *string { return name(r.Echo) },
				Equal:  func(q *echojson.TreeRequest, r *echojson.TreeReply) bool { return reflect.DeepEqual(q.Tree, r.Echo) },
			},
		},
	})
}

func field1(record *echojson.FlatRecord) *string {
	if record == nil {
		return nil
	}
	return &record.Field1
}

func prop1(dto *echojson.PropertyDto) *string {
	if dto == nil {
		return nil
	}
	return &dto.Prop1
}

func name(tree *echojson.TreeNode) *string {
	if tree == nil {
		return nil
	}
	return &tree.Name
}
