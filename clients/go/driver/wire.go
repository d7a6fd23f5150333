package driver

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

const (
	kindMessage = 1
	kindRecords = 2

	headerBytes = 8
	recordBytes = 24
	// recordsBytes is the payload of a full frame of records.
	recordsBytes = 4096 / recordBytes * recordBytes
	maxFrame     = 65536
)

// command is a message from rpcbench. Its fields depend on its type.
type command struct {
	Type               string
	Target             string
	Protocol           string
	Shape              string
	Requests           string
	Connections        int
	InFlight           int   `json:"in_flight"`
	TimeoutNs          int64 `json:"timeout_ns"`
	CallsPerConnection int   `json:"calls_per_connection"`
	AtNs               int64 `json:"at_ns"`
	Calls              int64
	Schedule           string
	InFlightMax        int `json:"in_flight_max"`
}

type hello struct {
	Type           string `json:"type"`
	Version        int    `json:"version"`
	Language       string `json:"language"`
	Library        string `json:"library"`
	LibraryVersion string `json:"library_version"`
	Runtime        string `json:"runtime"`
	Checks         string `json:"checks"`
	ClockNs        int64  `json:"clock_ns"`
}

type opened struct {
	Type        string `json:"type"`
	Connections int    `json:"connections"`
}

type failed struct {
	Type  string `json:"type"`
	Error string `json:"error"`
}

type ack struct {
	Type       string `json:"type"`
	Of         string `json:"of"`
	ReceivedNs int64  `json:"received_ns"`
}

type stopped struct {
	Type  string `json:"type"`
	Calls int64  `json:"calls"`
}

// wire writes frames to rpcbench, in order.
type wire struct {
	mutex  sync.Mutex
	socket net.Conn
	// records is a frame that is not full yet, with space for its header.
	records []byte
}

func newWire(socket net.Conn) *wire {
	return &wire{socket: socket, records: make([]byte, headerBytes, headerBytes+recordsBytes)}
}

// record adds a call that ended.
func (w *wire) record(start, done int64, call uint32, outcome Outcome) {
	w.mutex.Lock()
	w.records = binary.LittleEndian.AppendUint64(w.records, uint64(start))
	w.records = binary.LittleEndian.AppendUint64(w.records, uint64(done))
	w.records = binary.LittleEndian.AppendUint32(w.records, call)
	w.records = append(w.records, byte(outcome.Kind), 0)
	w.records = binary.LittleEndian.AppendUint16(w.records, outcome.Status)
	if len(w.records) == cap(w.records) {
		w.write()
	}
	w.mutex.Unlock()
}

// flush sends the pending records.
func (w *wire) flush() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.write()
}

func (w *wire) write() {
	if len(w.records) > headerBytes {
		w.writeFrame(w.records, kindRecords)
		w.records = w.records[:headerBytes]
	}
}

// send sends a message after the pending records.
func (w *wire) send(message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // messages are structs of numbers and strings
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.write()
	w.writeFrame(append(make([]byte, headerBytes), text...), kindMessage)
}

// writeFrame fills in the header and writes a frame. It exits if rpcbench has closed the socket.
func (w *wire) writeFrame(frame []byte, kind uint32) {
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-headerBytes))
	binary.LittleEndian.PutUint32(frame[4:], kind)
	if _, err := w.socket.Write(frame); err != nil {
		os.Exit(0)
	}
}

// readCommand reads a message. It returns io.EOF if rpcbench has closed the socket, even within a message.
func readCommand(socket io.Reader) (command, error) {
	var header [headerBytes]byte
	var command command
	if _, err := io.ReadFull(socket, header[:]); err != nil {
		return command, io.EOF
	}
	length, kind := binary.LittleEndian.Uint32(header[:]), binary.LittleEndian.Uint32(header[4:])
	if kind != kindMessage || length > maxFrame {
		return command, fmt.Errorf("a frame of kind %d with %d bytes; expected kind %d with at most %d", kind, length, kindMessage, maxFrame)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(socket, text); err != nil {
		return command, io.EOF
	}
	return command, json.Unmarshal(text, &command)
}
