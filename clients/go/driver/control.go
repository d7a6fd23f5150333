package driver

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// control executes rpcbench's commands.
type control[C any] struct {
	library Library[C]
	wire    *wire
	// load is set between `open` and `close`.
	load *load[C]
	// current is the run in progress, or nil.
	current atomic.Pointer[run[C]]
}

func (c *control[C]) serve(socket io.Reader) error {
	for {
		command, err := readCommand(socket)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		received := now()
		if command.Type == "start" || command.Type == "stop" {
			c.wire.send(ack{"ack", command.Type, received})
		}
		if err := c.obey(command); err != nil {
			c.wire.send(failed{"failed", fmt.Sprintf("%s: %v", command.Type, err)})
		}
	}
}

func (c *control[C]) obey(command command) error {
	running := c.current.Load()
	if running != nil && command.Type != "stop" {
		return errors.New("a load is running; stop it first")
	}
	switch command.Type {
	case "open":
		if c.load != nil {
			return errors.New("connections are open; close them first")
		}
		load, err := openLoad(c.library, command)
		if err != nil {
			return err
		}
		c.load = load
		c.wire.send(opened{"opened", load.opened()})
	case "start":
		if c.load == nil {
			return errors.New("no connections are open; send 'open' first")
		}
		return c.start(command)
	case "stop":
		if running != nil {
			running.stop(command.AtNs)
		}
	case "close":
		if c.load != nil {
			c.load.close()
			c.load = nil
		}
	default:
		return errors.New("unknown type; expected open, start, stop or close")
	}
	return nil
}

func (c *control[C]) start(command command) error {
	run, err := c.load.prepare(command, c.wire)
	if err != nil {
		return err
	}
	c.current.Store(run)
	go func() {
		calls := run.make()
		c.current.Store(nil)
		c.wire.send(stopped{"stopped", calls})
	}()
	return nil
}
