// Makes the server that this file is added to costlier by a known share: a thread burns CPU time.

package main

import (
	"runtime"
	"syscall"
	"time"
)

// Percentage of the CPU time that the rest of the process uses. experiments.py sets it.
const percent = 5

const (
	// Pauses between payments: short next to a window under load, and long otherwise, so that an idle server stays idle.
	busy = 10 * time.Millisecond
	idle = 100 * time.Millisecond
	// The server counts as idle while it owes less.
	maxIdleDebt = 50 * time.Microsecond
)

func init() { go pay() }

// pay burns the owed CPU time. Its thread runs nothing else, so the kernel counts that time separately.
func pay() {
	runtime.LockOSThread()
	pause := idle
	for {
		time.Sleep(pause)
		paid := used(rusageThread)
		owed := (used(syscall.RUSAGE_SELF) - paid) * percent / 100
		pause = busy
		if owed-paid < maxIdleDebt {
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
