package driver

import (
	"math"
	"runtime"
	"time"

	"rpcbench.dev/servers/go/service"
)

// spin is how long before an instant a sleeper stays awake.
const spin = 2 * time.Millisecond

// Package time reads CLOCK_MONOTONIC without a system call, but only relative to another reading. base is one whose nanoseconds on that
// clock are known: baseNs.
var base, baseNs = pair()

// pair reads both clocks at the same time: the closest of many readings.
func pair() (best time.Time, bestNs int64) {
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

// now is CLOCK_MONOTONIC in nanoseconds.
func now() int64 { return baseNs + int64(time.Since(base)) }

// sleepUntil returns at the instant, as exactly as it can.
func sleepUntil(instant int64) {
	time.Sleep(time.Duration(instant-now()) - spin)
	for now() < instant {
		runtime.Gosched()
	}
}
