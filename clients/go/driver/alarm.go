package driver

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// resolution is how late Go's timers can be in an idle process, which waits for events in whole milliseconds; in nanoseconds.
const resolution = int64(time.Millisecond)

// alarm wakes one goroutine at an instant, to the resolution of the kernel, while the others go on. A system call that sleeps won't
// do: it keeps the processor until the runtime takes it away, and replies wait as long.
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

// await returns at an instant in the future, or at once if the kernel refuses.
func (a *alarm) await(instant int64) {
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(instant)}
	if unix.TimerfdSettime(a.descriptor, unix.TFD_TIMER_ABSTIME, &at, nil) == nil {
		var expirations [8]byte
		_, _ = a.file.Read(expirations[:])
	}
}

func (a *alarm) close() { _ = a.file.Close() }
