// Package service has what the contract's servers in Go share: settings, limits, listening, shutdown. It depends on no RPC library.
package service

import (
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

// drainTimeout is how long calls in flight may take after SIGTERM.
const drainTimeout = 2 * time.Second

// Server answers calls.
type Server interface {
	// Serve answers calls on the listener until GracefulStop is called and calls in flight have ended.
	Serve(net.Listener) error
	// GracefulStop stops accepting calls.
	GracefulStop()
}

// Run listens at the environment's address, within its limits, and serves until SIGTERM. An error ends the process with one line that
// begins with the name.
func Run(name string, server func() Server) {
	log.SetFlags(0)
	log.SetPrefix(name + ": ")
	if err := run(server); err != nil {
		log.Fatal(err)
	}
}

func run(server func() Server) error {
	host := os.Getenv("RPCBENCH_HOST")
	if host == "" {
		return fmt.Errorf("RPCBENCH_HOST is not set")
	}
	port, err := setting("RPCBENCH_PORT", 16)
	if err != nil {
		return err
	}
	if err := UseLimits(); err != nil {
		return err
	}
	if err := LogCollections(); err != nil {
		return err
	}
	// TCP_NODELAY is Go's own default.
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.FormatUint(port, 10)))
	if err != nil {
		return err
	}
	return serve(server(), listener)
}

// TLS returns the configuration of a server with TLS: its certificate, and the defaults of crypto/tls, which are TLS 1.2 and 1.3 with
// tickets. It returns nil without RPCBENCH_TLS_CERT. A certificate that can't be read ends the process.
func TLS() *tls.Config {
	cert, ok := os.LookupEnv("RPCBENCH_TLS_CERT")
	if !ok {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(cert, os.Getenv("RPCBENCH_TLS_KEY"))
	if err != nil {
		log.Fatalf("RPCBENCH_TLS_CERT, RPCBENCH_TLS_KEY: %v", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// setting reads an integer of the given number of bits.
func setting(name string, bits int) (uint64, error) {
	text, ok := os.LookupEnv(name)
	if !ok {
		return 0, fmt.Errorf("%s is not set", name)
	}
	value, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// UseLimits sets the runtime's limits of CPUs and memory, as one would in a container.
func UseLimits() error {
	cpus, err := setting("RPCBENCH_CPUS", 16)
	if err != nil {
		return err
	}
	if cpus == 0 {
		return fmt.Errorf("RPCBENCH_CPUS: must be 1 or more")
	}
	runtime.GOMAXPROCS(int(cpus))
	if _, limited := os.LookupEnv("RPCBENCH_MEMORY"); !limited {
		return nil
	}
	memory, err := setting("RPCBENCH_MEMORY", 63)
	if err != nil {
		return err
	}
	// As Go's GC guide advises for a known limit: collect more often near it, so that the kernel need not kill the process. A tenth is left
	// for memory that the runtime does not count. GOGC stays at its default.
	debug.SetMemoryLimit(int64(memory / 10 * 9))
	return nil
}

// serve runs until SIGTERM, then lets calls in flight finish for at most drainTimeout.
func serve(server Server, listener net.Listener) error {
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-terminate:
	}
	go server.GracefulStop()
	// After the deadline the process ends: a server may wait for ever for a client that connected and sent nothing.
	select {
	case err := <-ended:
		return err
	case <-time.After(drainTimeout):
		return nil
	}
}
