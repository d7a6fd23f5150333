package service

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"
	"unsafe"
)

// reading is the interval between readings of the heap.
const reading = 50 * time.Millisecond

// LogCollections writes the contract's runtime log to the file RPCBENCH_RUNTIME_LOG for as long as the process lives. Without that
// variable it does nothing.
func LogCollections() error {
	path, asked := os.LookupEnv("RPCBENCH_RUNTIME_LOG")
	if !asked {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	t := runtimeLog{file: file, pid: os.Getpid(), samples: []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
	}}
	t.line = fmt.Appendf(t.line, "%d begin %d\n", t.pid, Monotonic())
	go func() {
		for range time.Tick(reading) {
			if !t.write() {
				return
			}
		}
	}()
	return nil
}

type runtimeLog struct {
	file    *os.File
	pid     int
	samples []metrics.Sample
	stats   debug.GCStats
	// logged is the number of collections already in the file.
	logged int64
	line   []byte
}

// write logs the collections since the last time, then a reading. It reports whether that succeeded.
func (t *runtimeLog) write() bool {
	// Collections that ended before this instant are in what is read after it.
	now := Monotonic()
	metrics.Read(t.samples)
	if int64(t.samples[0].Value.Uint64()) > t.logged {
		t.collections()
	}
	t.line = fmt.Appendf(t.line, "%d reading %d %d %d\n", t.pid, now, t.samples[1].Value.Uint64(), t.samples[2].Value.Uint64())
	_, err := t.file.Write(t.line)
	t.line = t.line[:0]
	return err == nil
}

// collections adds a line for each new collection. The runtime keeps the last 256: for each, the time for which it stopped the world, both
// phases together, and when the last of them ended.
func (t *runtimeLog) collections() {
	// In wall-clock time.
	offset := Monotonic() - time.Now().UnixNano()
	debug.ReadGCStats(&t.stats)
	news := min(int(t.stats.NumGC-t.logged), len(t.stats.Pause))
	for i := news - 1; i >= 0; i-- {
		end := t.stats.PauseEnd[i].UnixNano() + offset
		t.line = fmt.Appendf(t.line, "%d pause %d %d cycle -\n", t.pid, end, t.stats.Pause[i].Nanoseconds())
	}
	t.logged = t.stats.NumGC
}

// Monotonic is CLOCK_MONOTONIC in nanoseconds, which package time does not expose.
func Monotonic() int64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}
