package driver

import (
	"sync"
	"sync/atomic"
	"time"
)

// Target says where to, and how, connections are opened.
type Target struct {
	// Address is host:port.
	Address  string
	Protocol string
	// Connections is the largest number of connections of a pool.
	Connections int
	// Timeout of a call.
	Timeout time.Duration
	// CallsPerConnection is the number of calls after which a pool closes a connection; 0 if it keeps them.
	CallsPerConnection int
}

// Life says which calls close their connection, for pools that can be asked to.
type Life struct {
	// Calls is the number of calls of a connection; 0 if it stays open.
	Calls int
	made  atomic.Int64
}

// Ends reports whether the connection of this call closes after it. Connections have their number of calls on average.
func (l *Life) Ends() bool { return l.Calls > 0 && l.made.Add(1)%int64(l.Calls) == 0 }

// connection is opened again when it has made its number of calls, or broke.
type connection[C any] struct {
	library *Library[C]
	target  Target
	mutex   sync.Mutex
	current *line[C]
}

// line is an open connection.
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

// take returns the open line for one call.
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

// give ends a call. After a call without a reply, the rest of an exclusive connection's replies would be out of step.
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

// close ends the connection. It has no calls in flight.
func (c *connection[C]) close() {
	if c.current != nil {
		c.library.Close(c.current.client)
		c.current = nil
	}
}
