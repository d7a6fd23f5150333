// Package echojson has the contract's messages for encoding/json: 64-bit integers are decimal strings, bytes base64, and
// the values of an enum their names.
package echojson

import (
	"errors"
	"fmt"
	"strconv"
)

type TextRequest struct {
	Text string `json:"text"`
}

type TextReply struct {
	Echo string `json:"echo"`
}

type RecordRequest struct {
	Record *FlatRecord `json:"record"`
}

type RecordReply struct {
	Echo *FlatRecord `json:"echo,omitempty"`
}

type DtoRequest struct {
	Dto *PropertyDto `json:"dto"`
}

type DtoReply struct {
	Echo *PropertyDto `json:"echo,omitempty"`
}

type TreeRequest struct {
	Tree *TreeNode `json:"tree"`
}

type TreeReply struct {
	Echo *TreeNode `json:"echo,omitempty"`
}

// Validate refuses a tree that has both members of its oneof.
func (r TreeRequest) Validate() error {
	if r.Tree != nil && r.Tree.Email != nil && r.Tree.Phone != nil {
		return errors.New("tree: email and phone exclude each other")
	}
	return nil
}

type FlatRecord struct {
	Field1   string   `json:"field1"`
	Field2   int32    `json:"field2"`
	Field3   int32    `json:"field3"`
	Field4   string   `json:"field4"`
	Field5   []Uint64 `json:"field5"`
	Field6   int32    `json:"field6"`
	Field7   string   `json:"field7"`
	Field9   string   `json:"field9"`
	Field12  bool     `json:"field12"`
	Field13  bool     `json:"field13"`
	Field14  bool     `json:"field14"`
	Field16  int32    `json:"field16"`
	Field17  bool     `json:"field17"`
	Field18  string   `json:"field18"`
	Field22  int64    `json:"field22,string"`
	Field23  int32    `json:"field23"`
	Field24  bool     `json:"field24"`
	Field25  int32    `json:"field25"`
	Field29  int32    `json:"field29"`
	Field30  bool     `json:"field30"`
	Field59  bool     `json:"field59"`
	Field60  int32    `json:"field60"`
	Field67  int32    `json:"field67"`
	Field68  int32    `json:"field68"`
	Field78  bool     `json:"field78"`
	Field80  bool     `json:"field80"`
	Field81  bool     `json:"field81"`
	Field100 int32    `json:"field100"`
	Field101 int32    `json:"field101"`
	Field102 string   `json:"field102"`
	Field103 string   `json:"field103"`
	Field104 int32    `json:"field104"`
	Field128 int32    `json:"field128"`
	Field129 string   `json:"field129"`
	Field130 int32    `json:"field130"`
	Field131 int32    `json:"field131"`
	Field150 int32    `json:"field150"`
	Field271 int32    `json:"field271"`
	Field272 int32    `json:"field272"`
	Field280 int32    `json:"field280"`
}

type PropertyDto struct {
	Prop1  string  `json:"prop1"`
	Prop2  string  `json:"prop2"`
	Prop3  string  `json:"prop3"`
	Prop4  int32   `json:"prop4"`
	Prop5  int32   `json:"prop5"`
	Prop6  int32   `json:"prop6"`
	Prop7  float64 `json:"prop7"`
	Prop8  float64 `json:"prop8"`
	Prop9  float64 `json:"prop9"`
	Prop10 bool    `json:"prop10"`
	Prop11 bool    `json:"prop11"`
	Prop12 bool    `json:"prop12"`
}

type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type Branch struct {
	Name string `json:"name"`
	ID   uint64 `json:"id,string"`
	Tags []Tag  `json:"tags"`
}

// TreeNode has at most one of Email and Phone.
type TreeNode struct {
	Name     string           `json:"name"`
	Digest   []byte           `json:"digest"`
	Age      int32            `json:"age"`
	Balance  int64            `json:"balance,string"`
	Serial   uint64           `json:"serial,string"`
	Score    float64          `json:"score"`
	Ratio    float32          `json:"ratio"`
	Active   bool             `json:"active"`
	Status   Status           `json:"status"`
	Email    *string          `json:"email,omitempty"`
	Phone    *uint64          `json:"phone,string,omitempty"`
	Left     *Branch          `json:"left,omitempty"`
	Right    *Branch          `json:"right,omitempty"`
	Counters map[string]Int64 `json:"counters"`
}

// Int64 is an integer in a map, which a field's option "string" does not reach.
type Int64 int64

func (i Int64) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(i), 10), nil }

func (i *Int64) UnmarshalText(text []byte) error {
	value, err := strconv.ParseInt(string(text), 10, 64)
	*i = Int64(value)
	return err
}

// Uint64 is an integer in a list, which a field's option "string" does not reach.
type Uint64 uint64

func (u Uint64) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(u), 10), nil }

func (u *Uint64) UnmarshalText(text []byte) error {
	value, err := strconv.ParseUint(string(text), 10, 64)
	*u = Uint64(value)
	return err
}

type Status int32

const (
	StatusUnspecified Status = iota
	StatusActive
	StatusSuspended
	StatusClosed
)

func (s Status) MarshalText() ([]byte, error) {
	switch s {
	case StatusUnspecified:
		return []byte("STATUS_UNSPECIFIED"), nil
	case StatusActive:
		return []byte("STATUS_ACTIVE"), nil
	case StatusSuspended:
		return []byte("STATUS_SUSPENDED"), nil
	case StatusClosed:
		return []byte("STATUS_CLOSED"), nil
	}
	return nil, fmt.Errorf("status: unknown value %d", s)
}

func (s *Status) UnmarshalText(text []byte) error {
	switch string(text) {
	case "STATUS_UNSPECIFIED":
		*s = StatusUnspecified
	case "STATUS_ACTIVE":
		*s = StatusActive
	case "STATUS_SUSPENDED":
		*s = StatusSuspended
	case "STATUS_CLOSED":
		*s = StatusClosed
	default:
		return fmt.Errorf("status: unknown value %q", text)
	}
	return nil
}
