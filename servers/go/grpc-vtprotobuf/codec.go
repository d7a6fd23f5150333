package main

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	protobuf "google.golang.org/protobuf/proto"

	"rpcbench.dev/contract/echopb"
)

// message is one for which vtprotobuf has generated code.
type message interface {
	SizeVT() int
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
}

// codec takes the place of grpc-go's own for protobuf, and uses its buffers in the same way. vtprotobuf's ready-made codec has an
// older interface, which costs a copy in each direction.
type codec struct{}

func init() {
	encoding.RegisterCodecV2(codec{})
}

func (codec) Name() string {
	return proto.Name
}

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(message)
	if !ok {
		return nil, fmt.Errorf("vtprotobuf has no code for %T", v)
	}
	size := m.SizeVT()
	if mem.IsBelowBufferPoolingThreshold(size) {
		data := make([]byte, size)
		if _, err := m.MarshalToSizedBufferVT(data); err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(data)}, nil
	}
	pool := mem.DefaultBufferPool()
	data := pool.Get(size)
	if _, err := m.MarshalToSizedBufferVT((*data)[:size]); err != nil {
		pool.Put(data)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(data, pool)}, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	// Strings and bytes are copied out of the buffer.
	switch m := v.(type) {
	case *echopb.TreeRequest:
		// Where an entry of a map has its value twice, vtprotobuf gives the bits of both.
		return protobuf.Unmarshal(whole.ReadOnlyData(), m)
	case message:
		return m.UnmarshalVT(whole.ReadOnlyData())
	default:
		return fmt.Errorf("vtprotobuf has no code for %T", v)
	}
}
