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

// readingInterval is the time between readings of the heap.
const readingInterval = 50 * time.Millisecond

// LogCollections starts to write the contract's runtime log to the file RPCBENCH_RUNTIME_LOG. Without that variable it does nothing.
func LogCollections() error {
	path, ok := os.LookupEnv("RPCBENCH_RUNTIME_LOG")
	if !ok {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	l := runtimeLog{file: file, pid: os.Getpid(), samples: []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
	}}
	l.line = fmt.Appendf(l.line, "%d begin %d\n", l.pid, Monotonic())
	go func() {
		for range time.Tick(readingInterval) {
			if !l.write() {
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

// write logs new collections, then a reading. It reports whether the file could be written.
func (l *runtimeLog) write() bool {
	// Before the statistics, which then include all collections that ended by this instant.
	now := Monotonic()
	metrics.Read(l.samples)
	if int64(l.samples[0].Value.Uint64()) > l.logged {
		l.addCollections()
	}
	l.line = fmt.Appendf(l.line, "%d reading %d %d %d\n", l.pid, now, l.samples[1].Value.Uint64(), l.samples[2].Value.Uint64())
	_, err := l.file.Write(l.line)
	l.line = l.line[:0]
	return err == nil
}

// addCollections adds a line for each new collection. The runtime keeps the last 256: the sum of each one's two pauses, and the end of the
// second.
func (l *runtimeLog) addCollections() {
	// Ends of pauses are in wall-clock time.
	offset := Monotonic() - time.Now().UnixNano()
	debug.ReadGCStats(&l.stats)
	added := min(int(l.stats.NumGC-l.logged), len(l.stats.Pause))
	for i := added - 1; i >= 0; i-- {
		end := l.stats.PauseEnd[i].UnixNano() + offset
		l.line = fmt.Appendf(l.line, "%d pause %d %d cycle -\n", l.pid, end, l.stats.Pause[i].Nanoseconds())
	}
	l.logged = l.stats.NumGC
}

// Monotonic returns CLOCK_MONOTONIC in nanoseconds, which package time does not expose.
func Monotonic() int64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}
