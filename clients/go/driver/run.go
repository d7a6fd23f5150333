package driver

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// flushEvery is how long a record may wait.
const flushEvery = 5 * time.Millisecond

// run makes calls from `start` to `stop`.
type run[C any] struct {
	wire  *wire
	slots []slot[C]
	// at is the instant to start at.
	at int64
	// stopAt is the instant from which no call starts.
	stopAt atomic.Int64
	// limit is the number of calls to make.
	limit   int64
	claimed atomic.Int64
	started atomic.Int64

	// schedule has due times relative to at; nil in a closed loop.
	schedule    []int64
	alarm       *alarm
	inFlightMax int
}

// prepare reads what a run needs.
func (l *load[C]) prepare(command command, wire *wire) (*run[C], error) {
	run := &run[C]{wire: wire, slots: l.slots, at: command.AtNs, limit: math.MaxInt64}
	run.stopAt.Store(math.MaxInt64)
	if command.Calls > 0 {
		run.limit = command.Calls
	}
	if command.Schedule == "" {
		return run, nil
	}
	if command.InFlightMax < 1 {
		return nil, errors.New("in_flight_max must be 1 or more")
	}
	schedule, err := readSchedule(command.Schedule)
	if err != nil {
		return nil, err
	}
	// A connection with one call at a time is a slot; calls that find none idle wait, and count as in flight.
	number := command.InFlightMax
	if l.library.Connections == Exclusive {
		number = min(number, len(l.connections))
	}
	run.schedule = schedule[:min(int64(len(schedule)), run.limit)]
	run.inFlightMax = command.InFlightMax
	if run.slots, err = l.newSlots(number, l.connections[0].target); err != nil {
		return nil, err
	}
	run.alarm, err = newAlarm()
	return run, err
}

func (r *run[C]) stop(at int64) {
	r.stopAt.Store(at)
	if r.alarm != nil {
		r.alarm.interrupt()
	}
}

// make makes the calls and returns their number when the last one has ended.
func (r *run[C]) make() int64 {
	ended := make(chan struct{})
	defer close(ended)
	go r.flushUntil(ended)
	if r.at == 0 {
		r.at = now()
	}
	sleepUntil(r.at)
	if r.schedule == nil {
		r.closedLoop()
	} else {
		r.openLoop()
	}
	return r.started.Load()
}

func (r *run[C]) flushUntil(ended <-chan struct{}) {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.wire.flush()
		case <-ended:
			return
		}
	}
}

func (r *run[C]) closedLoop() {
	var slots sync.WaitGroup
	for i := range r.slots {
		slots.Go(func() { r.repeat(uint32(i), &r.slots[i]) })
	}
	slots.Wait()
}

// repeat makes the calls of a slot, one after another.
func (r *run[C]) repeat(number uint32, slot *slot[C]) {
	calls := int64(0)
	defer func() { r.started.Add(calls) }()
	for {
		start := now()
		if start >= r.stopAt.Load() || !r.claim() {
			return
		}
		calls++
		outcome := slot.call()
		r.wire.record(start, now(), number, outcome)
	}
}

// claim takes one of a limited number of calls.
func (r *run[C]) claim() bool { return r.limit == math.MaxInt64 || r.claimed.Add(1) <= r.limit }

// await waits for a due time. It reports false if the run stops before it.
func (r *run[C]) await(instant int64) bool {
	for instant < r.stopAt.Load() {
		if instant <= now() {
			return true
		}
		r.alarm.await(instant)
	}
	return false
}

func (s *slot[C]) call() Outcome {
	line, err := s.connection.take()
	if err != nil {
		return Outcome{Kind: Transport}
	}
	outcome := s.caller.call(line.client)
	s.connection.give(line, outcome.Kind)
	return outcome
}
