// Package pool has connections of net/http, for client libraries on top of it.
package pool

import (
	"net"
	"net/http"

	"rpcbench.dev/clients/go/driver"
)

// Pool has connections of HTTP/1.1.
type Pool struct {
	client http.Client
	life   driver.Life
}

// New returns a pool of the library's defaults, but for as many idle connections as there may be open ones, which stay open.
func New(target driver.Target) *Pool {
	return &Pool{
		client: http.Client{Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: target.Timeout}).DialContext,
			MaxConnsPerHost:     target.Connections,
			MaxIdleConnsPerHost: target.Connections,
		}},
		life: driver.Life{Calls: target.CallsPerConnection},
	}
}

// Do makes a request. Without a way to read the body again, the library repeats no call.
func (p *Pool) Do(request *http.Request) (*http.Response, error) {
	request.GetBody = nil
	request.Close = p.life.Ends()
	return p.client.Do(request)
}

// Close closes idle connections.
func (p *Pool) Close() { p.client.CloseIdleConnections() }
