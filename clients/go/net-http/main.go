// Calls the contract's service as JSON with net/http.
package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"rpcbench.dev/clients/go/driver"
	"rpcbench.dev/clients/go/driver/web"
)

// client has a pool of connections.
type client struct {
	http    *http.Client
	url     string
	timeout time.Duration
	life    driver.Life
}

// The library's defaults, but for as many idle connections as there may be open ones, which stay open.
func connect(target driver.Target) (*client, error) {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: target.Timeout}).DialContext,
		MaxConnsPerHost:     target.Connections,
		MaxIdleConnsPerHost: target.Connections,
	}
	return &client{
		http:    &http.Client{Transport: transport},
		url:     "http://" + target.Address,
		timeout: target.Timeout,
		life:    driver.Life{Calls: target.CallsPerConnection},
	}, nil
}

func post(c *client, path string, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	// Without a way to read the body again, the library repeats no call.
	request.GetBody = nil
	request.Header.Set("Content-Type", "application/json")
	request.Close = c.life.Ends()
	response, err := c.http.Do(request)
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
		Close:       func(c *client) { c.http.CloseIdleConnections() },
		Outcome:     web.Outcome(func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }),
		Methods:     web.Methods(post),
	})
}
