// Makes the server that this file is added to costlier by a known share.

package main

import (
	"runtime"
	"syscall"
	"time"
)

// Share of the CPU time that the process uses for anything else.
const percent = 5

// Pauses between two payments: under load, short next to a window; else long, so that an idle server stays idle.
const (
	busy   = 10 * time.Millisecond
	idle   = 100 * time.Millisecond
	little = 50 * time.Microsecond
)

func init() { go pay() }

// pay burns the CPU time that is owed. Its thread runs nothing else, so the kernel counts that time separately.
func pay() {
	runtime.LockOSThread()
	pause := idle
	for {
		time.Sleep(pause)
		paid := used(rusageThread)
		owed := (used(syscall.RUSAGE_SELF) - paid) * percent / 100
		pause = busy
		if owed-paid < little {
			pause = idle
		}
		for paid < owed {
			paid = used(rusageThread)
		}
	}
}

const rusageThread = 1

// used returns the CPU time of the process or of the thread.
func used(who int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
