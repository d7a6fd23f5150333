// The contract's service on LIBRARY.
package main

import (
	"errors"
	"net"

	"rpcbench.dev/servers/go/service"
)

// server is where LIBRARY goes. Package service reads the settings and listens.
type server struct{}

func (server) Serve(net.Listener) error {
	return errors.New("not written yet: main.go must answer the four calls of contract/README.md here")
}

func (server) GracefulStop() {}

func main() {
	service.Run("go-LIBRARY", func() service.Server { return server{} })
}
