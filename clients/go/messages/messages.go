// Package messages has the methods of the contract as protobuf, for client libraries that share its generated messages.
package messages

import (
	"google.golang.org/protobuf/proto"

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/contract/echopb"
)

// Calls has a library's functions for the contract's methods.
type Calls[C any] struct {
	Text   func(C, *echopb.TextRequest) (*echopb.TextReply, error)
	Record func(C, *echopb.RecordRequest) (*echopb.RecordReply, error)
	Dto    func(C, *echopb.DtoRequest) (*echopb.DtoReply, error)
	Tree   func(C, *echopb.TreeRequest) (*echopb.TreeReply, error)
}

// Methods returns the contract's methods by shape.
func Methods[C any](calls Calls[C]) map[string]driver.Method[C] {
	return map[string]driver.Method[C]{
		"text": driver.Unary[C, echopb.TextRequest, echopb.TextReply]{
			Decode: decode[echopb.TextRequest],
			Call:   calls.Text,
			Sent:   func(r *echopb.TextRequest) *string { return &r.Text },
			Echoed: func(r *echopb.TextReply) *string { return &r.Echo },
		},
		"record": driver.Unary[C, echopb.RecordRequest, echopb.RecordReply]{
			Decode: decode[echopb.RecordRequest],
			Call:   calls.Record,
			Sent:   func(r *echopb.RecordRequest) *string { return field1(r.Record) },
			Echoed: func(r *echopb.RecordReply) *string { return field1(r.Echo) },
			Equal:  func(q *echopb.RecordRequest, r *echopb.RecordReply) bool { return proto.Equal(q.Record, r.Echo) },
		},
		"dto": driver.Unary[C, echopb.DtoRequest, echopb.DtoReply]{
			Decode: decode[echopb.DtoRequest],
			Call:   calls.Dto,
			Sent:   func(r *echopb.DtoRequest) *string { return prop1(r.Dto) },
			Echoed: func(r *echopb.DtoReply) *string { return prop1(r.Echo) },
			Equal:  func(q *echopb.DtoRequest, r *echopb.DtoReply) bool { return proto.Equal(q.Dto, r.Echo) },
		},
		"tree": driver.Unary[C, echopb.TreeRequest, echopb.TreeReply]{
			Decode: decode[echopb.TreeRequest],
			Call:   calls.Tree,
			Sent:   func(r *echopb.TreeRequest) *string { return name(r.Tree) },
			Echoed: func(r *echopb.TreeReply) *string { return name(r.Echo) },
			Equal:  func(q *echopb.TreeRequest, r *echopb.TreeReply) bool { return proto.Equal(q.Tree, r.Echo) },
		},
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
