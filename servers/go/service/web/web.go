// Package web adapts an HTTP server to the package service.
package web

import (
	"context"
	"errors"
	"net"
	"net/http"

	"rpcbench.dev/servers/go/service"
)

// MaxBody is the maximum size of a request in bytes: twice the contract's longest text.
const MaxBody = 8 << 20

type graceful struct {
	http    *http.Server
	drained chan struct{}
}

func (g graceful) Serve(listener net.Listener) error {
	serve := g.http.Serve
	if g.http.TLSConfig != nil {
		// The certificate is in TLSConfig.
		serve = func(listener net.Listener) error { return g.http.ServeTLS(listener, "", "") }
	}
	if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-g.drained
	return nil
}

func (g graceful) GracefulStop() {
	defer close(g.drained)
	// No deadline here: package service ends the process after its own.
	_ = g.http.Shutdown(context.Background())
}

// Run serves a handler in the given protocols until SIGTERM. Everything else is net/http's default, without timeouts: the client decides
// how long connections live, used or idle.
func Run(name string, handler http.Handler, protocols *http.Protocols) {
	service.Run(name, func() service.Server {
		server := &http.Server{Handler: handler, Protocols: protocols, TLSConfig: service.TLS()}
		if server.TLSConfig != nil {
			protocols.SetHTTP2(protocols.UnencryptedHTTP2())
		}
		return graceful{server, make(chan struct{})}
	})
}

// HTTP1And2 returns HTTP/1.1 and HTTP/2: detected by a connection's first bytes without TLS, chosen by ALPN with it.
func HTTP1And2() *http.Protocols {
	protocols := HTTP1()
	protocols.SetUnencryptedHTTP2(true)
	return protocols
}

// HTTP1 returns HTTP/1.1 only.
func HTTP1() *http.Protocols {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &protocols
}
