// Package pool has a pool of net/http's connections, for client libraries on top of it.
package pool

import (
	"net"
	"net/http"

	"rpcbench.dev/clients/go/driver"
)

// Pool has HTTP/1.1 connections.
type Pool struct {
	client http.Client
	life   driver.Life
}

// New returns a pool with the library's defaults, except that it has at most the target's connections, and keeps all of them when idle.
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

// Do makes a request, without GetBody, so that the library can't repeat the call.
func (p *Pool) Do(request *http.Request) (*http.Response, error) {
	request.GetBody = nil
	request.Close = p.life.Ends()
	return p.client.Do(request)
}

// Close closes idle connections.
func (p *Pool) Close() { p.client.CloseIdleConnections() }
