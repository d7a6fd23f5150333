package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
)

// load has the connections and requests between `open` and `close`.
type load[C any] struct {
	library *Library[C]
	method  Method[C]
	// requests are encoded; each slot has its own, decoded.
	requests    [][]byte
	connections []*connection[C]
	// slots are those of the closed loop.
	slots []slot[C]
}

// slot makes calls one at a time, all on one connection or pool.
type slot[C any] struct {
	connection *connection[C]
	caller     caller[C]
}

func openLoad[C any](library Library[C], command command) (*load[C], error) {
	method, ok := library.Methods[command.Shape]
	if !ok {
		return nil, fmt.Errorf("unknown shape '%s'", command.Shape)
	}
	if command.Connections < 1 || command.InFlight < 1 || command.TimeoutNs < 1 {
		return nil, errors.New("connections, in_flight and timeout_ns must be 1 or more")
	}
	if library.Connections != Multiplexed && command.InFlight > 1 {
		return nil, fmt.Errorf("in_flight is %d, but a connection of %s makes one call at a time", command.InFlight, library.Name)
	}
	requests, err := readRequests(command.Requests)
	if err != nil {
		return nil, err
	}
	load := &load[C]{library: &library, method: method, requests: requests}
	target := Target{
		Address: command.Target, Protocol: command.Protocol, Connections: command.Connections,
		Timeout: time.Duration(command.TimeoutNs), CallsPerConnection: command.CallsPerConnection,
	}
	if load.slots, err = load.newSlots(command.Connections*command.InFlight, target); err != nil {
		return nil, err
	}
	if err := load.connect(); err != nil {
		load.close()
		return nil, err
	}
	return load, nil
}

// newSlots returns slots that share the load's connections. The first call creates those.
func (l *load[C]) newSlots(number int, target Target) ([]slot[C], error) {
	for len(l.connections) < target.Connections && (l.library.Connections != Pooled || len(l.connections) == 0) {
		l.connections = append(l.connections, &connection[C]{library: l.library, target: target})
	}
	callers, err := l.method.prepare(l.requests, number, l.library.Outcome)
	if err != nil {
		return nil, err
	}
	slots := make([]slot[C], number)
	for i := range slots {
		slots[i] = slot[C]{l.connections[i%len(l.connections)], callers[i]}
	}
	return slots, nil
}

func (l *load[C]) connect() error {
	for _, connection := range l.connections {
		if err := connection.open(); err != nil {
			return err
		}
	}
	if l.library.Await == nil {
		return nil
	}
	for _, connection := range l.connections {
		if err := l.library.Await(connection.current.client); err != nil {
			return err
		}
	}
	return nil
}

// opened returns the number of open connections; 0 if a pool opens them with its first calls.
func (l *load[C]) opened() int {
	if l.library.Connections == Pooled {
		return 0
	}
	return len(l.connections)
}

func (l *load[C]) close() {
	for _, connection := range l.connections {
		connection.close()
	}
}

// readRequests reads a file of requests, each preceded by its length.
func readRequests(path string) ([][]byte, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var requests [][]byte
	for rest := file; len(rest) > 0; {
		if len(rest) < 4 || uint64(len(rest)-4) < uint64(binary.LittleEndian.Uint32(rest)) {
			return nil, fmt.Errorf("%s: request %d is cut short", path, len(requests))
		}
		length := binary.LittleEndian.Uint32(rest)
		requests = append(requests, rest[4:4+length])
		rest = rest[4+length:]
	}
	if len(requests) == 0 {
		return nil, fmt.Errorf("%s: no requests", path)
	}
	return requests, nil
}

// readSchedule reads a file of due times.
func readSchedule(path string) ([]int64, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(file)%8 != 0 {
		return nil, fmt.Errorf("%s: %d bytes; expected a multiple of 8", path, len(file))
	}
	schedule := make([]int64, len(file)/8)
	for i := range schedule {
		schedule[i] = int64(binary.LittleEndian.Uint64(file[8*i:]))
	}
	return schedule, nil
}
