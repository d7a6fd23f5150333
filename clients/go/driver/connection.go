package driver

import (
	"sync"
	"sync/atomic"
	"time"
)

// Target is where and how to open connections.
type Target struct {
	// Address is host:port.
	Address  string
	Protocol string
	// Connections is the maximum size of a pool.
	Connections int
	// Timeout of a call.
	Timeout time.Duration
	// CallsPerConnection is the number of calls after which a connection is closed; 0 for no limit.
	CallsPerConnection int
}

// Life decides which calls close their connection, for pools with such an option per call.
type Life struct {
	// Calls is the number of calls per connection; 0 for no limit.
	Calls int
	made  atomic.Int64
}

// Ends reports whether this call closes its connection, so that connections carry Calls calls on average.
func (l *Life) Ends() bool { return l.Calls > 0 && l.made.Add(1)%int64(l.Calls) == 0 }

// connection replaces its line after a number of calls, or when an exclusive one breaks.
type connection[C any] struct {
	library *Library[C]
	target  Target
	mutex   sync.Mutex
	current *line[C]
}

// line is an open connection of the library.
type line[C any] struct {
	client          C
	calls, inFlight int
	// retired lines get no further calls.
	retired bool
}

func (c *connection[C]) open() error {
	client, err := c.library.Connect(c.target)
	if err == nil {
		c.current = &line[C]{client: client}
	}
	return err
}

// take returns the current line for one call, and opens one if needed.
func (c *connection[C]) take() (*line[C], error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.current == nil {
		if err := c.open(); err != nil {
			return nil, err
		}
	}
	line := c.current
	line.calls++
	line.inFlight++
	if c.library.Connections != Pooled && line.calls == c.target.CallsPerConnection {
		c.retire(line)
	}
	return line, nil
}

// give ends a call. An exclusive line is retired after a call without a reply, which may still come and be taken for the next call's.
func (c *connection[C]) give(line *line[C], outcome Kind) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	line.inFlight--
	if c.library.Connections == Exclusive && outcome != OK && outcome != Status {
		c.retire(line)
	}
	if line.retired && line.inFlight == 0 {
		c.library.Close(line.client)
	}
}

func (c *connection[C]) retire(line *line[C]) {
	line.retired = true
	if c.current == line {
		c.current = nil
	}
}

// close closes the connection, which must have no calls in flight.
func (c *connection[C]) close() {
	if c.current != nil {
		c.library.Close(c.current.client)
		c.current = nil
	}
}
