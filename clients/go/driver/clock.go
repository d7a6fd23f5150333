package driver

import (
	"math"
	"runtime"
	"time"

	"rpcbench.dev/servers/go/service"
)

// spin is how long sleepUntil polls the clock before its instant.
const spin = 2 * time.Millisecond

// base and baseNs are the same instant in package time and in nanoseconds of CLOCK_MONOTONIC. Package time reads that clock without a
// system call, but returns only differences.
var base, baseNs = readBoth()

// readBoth reads both clocks many times and returns the readings that are closest together.
func readBoth() (best time.Time, bestNs int64) {
	closest := int64(math.MaxInt64)
	for range 1000 {
		before := service.Monotonic()
		reading := time.Now()
		after := service.Monotonic()
		if after-before < closest {
			closest, best, bestNs = after-before, reading, before+(after-before)/2
		}
	}
	return best, bestNs
}

// now returns CLOCK_MONOTONIC in nanoseconds.
func now() int64 { return baseNs + int64(time.Since(base)) }

// sleepUntil sleeps until shortly before the instant, then polls the clock: Go's timers may be a millisecond late.
func sleepUntil(instant int64) {
	time.Sleep(time.Duration(instant-now()) - spin)
	for now() < instant {
		runtime.Gosched()
	}
}
