// Package driver is shared by the client programs in Go. It does everything in contract/clients.md except the calls.
package driver

import (
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"rpcbench.dev/servers/go/service"
)

// Connections is how calls share a library's connections.
type Connections int

const (
	// Multiplexed connections carry several calls at a time.
	Multiplexed Connections = iota
	// Exclusive connections carry one call at a time.
	Exclusive
	// Pooled connections belong to the library, which opens them with its first calls; each carries one call at a time.
	Pooled
)

// Library describes a client library. C makes the calls of one connection, or of the whole pool if connections are pooled.
type Library[C any] struct {
	// Name is the library's name in the manifest.
	Name string
	// Module is the path of the module whose version is reported; empty for the standard library.
	Module      string
	Connections Connections
	// Connect opens a connection, or begins to.
	Connect func(Target) (C, error)
	// Await waits until the connection is open; nil if Connect does.
	Await func(C) error
	Close func(C)
	// Outcome classifies the error of a call.
	Outcome func(error) Outcome
	// Methods has the contract's methods by shape.
	Methods map[string]Method[C]
}

const checks = "text: the whole string; others: the field with the nonce, and on every 16th call the whole message"

// Run executes rpcbench's commands until it closes the socket or sends SIGTERM.
func Run[C any](library Library[C]) {
	log.SetFlags(0)
	log.SetPrefix("go-" + library.Name + ": ")
	if err := serve(library); err != nil {
		log.Fatal(err)
	}
}

func serve[C any](library Library[C]) error {
	path := os.Getenv("RPCBENCH_SOCKET")
	if path == "" {
		return fmt.Errorf("RPCBENCH_SOCKET is not set; rpcbench starts this program")
	}
	if err := service.UseLimits(); err != nil {
		return err
	}
	if err := service.LogCollections(); err != nil {
		return err
	}
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	go func() {
		<-terminate
		os.Exit(0)
	}()
	socket, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	control := &control[C]{library: library, wire: newWire(socket)}
	control.wire.send(hello{
		Type: "hello", Version: 1, Language: "Go", Library: library.Name, LibraryVersion: version(library.Module),
		Runtime: runtime.Version(), Checks: checks, ClockNs: now(),
	})
	return control.serve(socket)
}

// version returns the version of a module in this program; Go's if there is no such module.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version[1:]
			}
		}
	}
	return runtime.Version()[len("go"):]
}
