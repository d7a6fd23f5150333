package driver

import (
	"fmt"
	"sync/atomic"
)

// Kind is how a call ended.
type Kind byte

const (
	OK Kind = iota
	WrongAnswer
	Status
	Timeout
	Transport
	notSent
)

// Outcome is a call's kind, and the protocol's status if that is Status.
type Outcome struct {
	Kind   Kind
	Status uint16
}

const (
	nonceDigits = 8
	// Whole messages are compared on every wholeEvery-th call.
	wholeEvery = 16
)

// nonces counts the calls of this process.
var nonces atomic.Uint64

// Method makes the calls of one shape.
type Method[C any] interface {
	// prepare decodes the requests and divides them among slots.
	prepare(encoded [][]byte, slots int, outcome func(error) Outcome) ([]caller[C], error)
}

// caller makes the calls of one slot: one at a time, with its requests in turn.
type caller[C any] interface {
	call(client C) Outcome
}

// Unary is a method of the contract with the types of a library.
type Unary[C, Request, Reply any] struct {
	Decode func([]byte) (*Request, error)
	Call   func(C, *Request) (*Reply, error)
	// Sent and Echoed are the fields with the nonce; nil if the message has no content.
	Sent   func(*Request) *string
	Echoed func(*Reply) *string
	// Equal compares whole messages; nil if the field with the nonce is the only one.
	Equal func(*Request, *Reply) bool
}

func (u Unary[C, Request, Reply]) prepare(encoded [][]byte, slots int, outcome func(error) Outcome) ([]caller[C], error) {
	callers := make([]caller[C], slots)
	for slot := range callers {
		s := &slotCaller[C, Request, Reply]{unary: u, outcome: outcome}
		// With fewer requests than slots, several slots decode the same one.
		for i := slot % len(encoded); i < len(encoded); i += slots {
			request, err := u.Decode(encoded[i])
			if err != nil {
				return nil, fmt.Errorf("request %d: %w", i, err)
			}
			field := u.Sent(request)
			if field == nil {
				return nil, fmt.Errorf("request %d has no content", i)
			}
			s.requests = append(s.requests, &patched[Request]{request, field, (*field)[min(nonceDigits, len(*field)):]})
		}
		callers[slot] = s
	}
	return callers, nil
}

// patched is a request whose field gets a nonce before each call.
type patched[Request any] struct {
	request *Request
	field   *string
	// tail is the field without the nonce.
	tail string
}

func (p *patched[Request]) setNonce(nonce uint64) {
	var digits [nonceDigits]byte
	for i := range digits {
		digits[nonceDigits-1-i] = '0' + byte(nonce%10)
		nonce /= 10
	}
	length := min(nonceDigits, len(*p.field))
	*p.field = string(digits[nonceDigits-length:]) + p.tail
}

type slotCaller[C, Request, Reply any] struct {
	unary    Unary[C, Request, Reply]
	outcome  func(error) Outcome
	requests []*patched[Request]
	next     int
}

func (s *slotCaller[C, Request, Reply]) call(client C) Outcome {
	patched := s.requests[s.next]
	s.next = (s.next + 1) % len(s.requests)
	nonce := nonces.Add(1)
	patched.setNonce(nonce)
	reply, err := s.unary.Call(client, patched.request)
	if err != nil {
		return s.outcome(err)
	}
	if echoed := s.unary.Echoed(reply); echoed == nil || *echoed != *patched.field {
		return Outcome{Kind: WrongAnswer}
	}
	if s.unary.Equal != nil && nonce%wholeEvery == 0 && !s.unary.Equal(patched.request, reply) {
		return Outcome{Kind: WrongAnswer}
	}
	return Outcome{Kind: OK}
}
