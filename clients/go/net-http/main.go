// Calls the contract's service as JSON with net/http.
package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/clients/go/driver/pool"
	"rpcbench.dev/clients/go/driver/web"
)

type client struct {
	pool    *pool.Pool
	url     string
	timeout time.Duration
}

func connect(target driver.Target) (*client, error) {
	return &client{pool.New(target), "http://" + target.Address, target.Timeout}, nil
}

func post(c *client, path string, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.pool.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

func main() {
	driver.Run(driver.Library[*client]{
		Name:        "net/http",
		Connections: driver.Pooled,
		Connect:     connect,
		Close:       func(c *client) { c.pool.Close() },
		Outcome:     web.Outcome(func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }),
		Methods:     web.Methods(post),
	})
}
