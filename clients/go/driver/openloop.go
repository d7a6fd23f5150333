package driver

import (
	"slices"
	"sync"
)

// due is a call of the open loop.
type due struct {
	index uint32
	at    int64
}

// openLoop has a goroutine for each slot. The one that became idle last gets the next call, so that a low rate uses few slots and
// connections.
type openLoop[C any] struct {
	run   *run[C]
	mutex sync.Mutex
	// idle has the inboxes of idle slots.
	idle []chan due
	// waiting has calls that found no idle slot.
	waiting  []due
	inFlight int
}

func (r *run[C]) openLoop() {
	inboxes := make([]chan due, len(r.slots))
	for i := range inboxes {
		inboxes[i] = make(chan due, 1)
	}
	loop := &openLoop[C]{run: r, idle: slices.Clone(inboxes)}
	var slots sync.WaitGroup
	for i, inbox := range inboxes {
		slots.Go(func() { loop.serve(&r.slots[i], inbox) })
	}
	loop.dispatch()
	for _, inbox := range inboxes {
		close(inbox)
	}
	slots.Wait()
}

// dispatch starts each call when it is due.
func (l *openLoop[C]) dispatch() {
	defer l.run.alarm.close()
	for i, offset := range l.run.schedule {
		call := due{uint32(i), l.run.at + offset}
		if !l.run.await(call.at) {
			return
		}
		l.run.started.Add(1)
		if !l.begin(call) {
			l.run.wire.record(call.at, now(), call.index, Outcome{Kind: notSent})
		}
	}
}

// begin hands a call to a slot, or lets it wait for one. It reports false if too many are in flight.
func (l *openLoop[C]) begin(call due) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.inFlight == l.run.inFlightMax {
		return false
	}
	l.inFlight++
	if last := len(l.idle) - 1; last >= 0 {
		l.idle[last] <- call
		l.idle = l.idle[:last]
	} else {
		l.waiting = append(l.waiting, call)
	}
	return true
}

// serve makes the calls of an inbox, and after each of them those that wait.
func (l *openLoop[C]) serve(slot *slot[C], inbox chan due) {
	for call := range inbox {
		for isBusy := true; isBusy; call, isBusy = l.next(inbox) {
			outcome := slot.call()
			l.run.wire.record(call.at, now(), call.index, outcome)
		}
	}
}

// next ends a call of a slot and returns one that waits. It reports false if no call waits: the slot is idle.
func (l *openLoop[C]) next(inbox chan due) (due, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.inFlight--
	if len(l.waiting) == 0 {
		l.idle = append(l.idle, inbox)
		return due{}, false
	}
	call := l.waiting[0]
	l.waiting = l.waiting[1:]
	return call, true
}
