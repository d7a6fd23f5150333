// The oracle is a server that collects garbage a known number of times instead of answering, and prints the window. What the runtime
// has of it comes from GODEBUG=gctrace=1, between the two marks on standard error.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"rpcbench.dev/servers/go/service"
)

var kept []byte

type server struct{}

func (server) GracefulStop() {}

func (server) Serve(net.Listener) error {
	awaitReadings()
	os.Stderr.WriteString("begin\n")
	start := monotonic()
	awaitReadings() // At its edges nothing is allocated.
	for range 20_000 {
		kept = make([]byte, 10_000)
	}
	for range 5 {
		runtime.GC()
	}
	awaitReadings()
	end := monotonic()
	os.Stderr.WriteString("end\n")
	fmt.Println("window", start, end)
	fmt.Println("allocated", 20_000*10_000)
	awaitReadings()
	return nil
}

func awaitReadings() {
	for range 2 {
		for before := size(); size() == before; {
			time.Sleep(time.Millisecond)
		}
	}
}

func size() int64 {
	info, err := os.Stat(os.Getenv("RPCBENCH_RUNTIME_LOG"))
	if err != nil {
		panic(err)
	}
	return info.Size()
}

func monotonic() int64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

func main() {
	service.Run("oracle", func() service.Server { return server{} })
}
