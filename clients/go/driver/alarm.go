package driver

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes one goroutine at an instant, to the resolution of the kernel, while the others go on. Go's own timers are up to 1 ms late
// in an idle process, which waits for events in whole milliseconds. A system call that sleeps keeps the processor until the runtime
// takes it away, and replies wait as long.
type alarm struct {
	descriptor int
	// file is the same timer of the kernel, polled by the runtime like a socket.
	file *os.File
}

func newAlarm() (*alarm, error) {
	descriptor, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &alarm{descriptor, os.NewFile(uintptr(descriptor), "timer")}, nil
}

// await returns at an instant in the future, after an interrupt, or at once if the kernel refuses.
func (a *alarm) await(instant int64) {
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(instant)}
	if unix.TimerfdSettime(a.descriptor, unix.TFD_TIMER_ABSTIME, &at, nil) != nil {
		return
	}
	var expirations [8]byte
	if _, err := a.file.Read(expirations[:]); errors.Is(err, os.ErrDeadlineExceeded) {
		_ = a.file.SetReadDeadline(time.Time{})
	}
}

// interrupt ends the current or next await.
func (a *alarm) interrupt() { _ = a.file.SetReadDeadline(time.Unix(0, 0)) }

func (a *alarm) close() { _ = a.file.Close() }
