// Package web has the methods of the contract as JSON, encoded by encoding/json, for client libraries that speak HTTP.
package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/servers/go/service/echojson"
)

// Exchange posts a body to a path and returns the answer's status and body.
type Exchange[C any] func(client C, path string, body []byte) (status int, answer []byte, err error)

// statusError is an HTTP status other than 200.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("HTTP status %d", int(e)) }

// replyError is a body that can't be decoded.
type replyError struct{ error }

// Outcome returns a function that classifies the error of a call.
func Outcome(isTimeout func(error) bool) func(error) driver.Outcome {
	return func(err error) driver.Outcome {
		var status statusError
		switch {
		case errors.As(err, &status):
			return driver.Outcome{Kind: driver.Status, Status: uint16(status)}
		case errors.As(err, &replyError{}):
			return driver.Outcome{Kind: driver.WrongAnswer}
		case isTimeout(err):
			return driver.Outcome{Kind: driver.Timeout}
		}
		return driver.Outcome{Kind: driver.Transport}
	}
}

// call returns a function that encodes a request, posts it and decodes the reply.
func call[Request, Reply, C any](method string, exchange Exchange[C]) func(C, *Request) (*Reply, error) {
	path := "/rpcbench.v1.Echo/" + method
	return func(client C, request *Request) (*Reply, error) {
		body, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		status, answer, err := exchange(client, path, body)
		if err != nil {
			return nil, err
		}
		if status != http.StatusOK {
			return nil, statusError(status)
		}
		reply := new(Reply)
		if err := json.Unmarshal(answer, reply); err != nil {
			return nil, replyError{err}
		}
		return reply, nil
	}
}

func decode[Request any](encoded []byte) (*Request, error) {
	request := new(Request)
	return request, json.Unmarshal(encoded, request)
}

// Methods returns the contract's methods by shape.
func Methods[C any](exchange Exchange[C]) map[string]driver.Method[C] {
	return map[string]driver.Method[C]{
		"text": driver.Unary[C, echojson.TextRequest, echojson.TextReply]{
			Decode: decode[echojson.TextRequest],
			Call:   call[echojson.TextRequest, echojson.TextReply]("Text", exchange),
			Sent:   func(r *echojson.TextRequest) *string { return &r.Text },
			Echoed: func(r *echojson.TextReply) *string { return &r.Echo },
		},
		"record": driver.Unary[C, echojson.RecordRequest, echojson.RecordReply]{
			Decode: decode[echojson.RecordRequest],
			Call:   call[echojson.RecordRequest, echojson.RecordReply]("Record", exchange),
			Sent:   func(r *echojson.RecordRequest) *string { return field1(r.Record) },
			Echoed: func(r *echojson.RecordReply) *string { return field1(r.Echo) },
			Equal: func(q *echojson.RecordRequest, r *echojson.RecordReply) bool {
				return reflect.DeepEqual(q.Record, r.Echo)
			},
		},
		"dto": driver.Unary[C, echojson.DtoRequest, echojson.DtoReply]{
			Decode: decode[echojson.DtoRequest],
			Call:   call[echojson.DtoRequest, echojson.DtoReply]("Dto", exchange),
			Sent:   func(r *echojson.DtoRequest) *string { return prop1(r.Dto) },
			Echoed: func(r *echojson.DtoReply) *string { return prop1(r.Echo) },
			Equal:  func(q *echojson.DtoRequest, r *echojson.DtoReply) bool { return *q.Dto == *r.Echo },
		},
		"tree": driver.Unary[C, echojson.TreeRequest, echojson.TreeReply]{
			Decode: decode[echojson.TreeRequest],
			Call:   call[echojson.TreeRequest, echojson.TreeReply]("Tree", exchange),
			Sent:   func(r *echojson.TreeRequest) *string { return name(r.Tree) },
			Echoed: func(r *echojson.TreeReply) *string { return name(r.Echo) },
			Equal:  func(q *echojson.TreeRequest, r *echojson.TreeReply) bool { return reflect.DeepEqual(q.Tree, r.Echo) },
		},
	}
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
