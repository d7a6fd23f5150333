// Calls the contract's service as JSON with LIBRARY.
package main

import (
	"context"
	"errors"

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/clients/go/driver/web"
)

// client is where LIBRARY goes: a pool of connections, or one connection if it carries several calls at a time.
type client struct{}

func connect(driver.Target) (*client, error) {
	return nil, errors.New("not written yet: main.go must open connections and make the calls of contract/clients.md")
}

// post returns the status and the body.
func post(*client, string, []byte) (int, []byte, error) {
	return 0, nil, nil
}

func isTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded)
}

func main() {
	driver.Run(driver.Library[*client]{
		Name:        "LIBRARY",
		Connections: driver.Pooled,
		Connect:     connect,
		Close:       func(*client) {},
		Outcome:     web.Outcome(isTimeout),
		Methods:     web.Methods(post),
	})
}
