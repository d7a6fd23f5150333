// The health and reflection services of connectrpc.com, over HTTP/1.1 and HTTP/2 without TLS: connect-go ADDRESS
//
// Ends on SIGTERM, with the number of calls of the health service on standard output.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
)

func main() {
	var calls atomic.Uint64
	mux := http.NewServeMux()
	path, health := grpchealth.NewHandler(grpchealth.NewStaticChecker("orders.v1.Orders"))
	mux.HandleFunc(path, func(reply http.ResponseWriter, request *http.Request) {
		calls.Add(1)
		health.ServeHTTP(reply, request)
	})
	reflector := grpcreflect.NewStaticReflector(grpchealth.HealthV1ServiceName)
	mux.Handle(grpcreflect.NewHandlerV1(reflector))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector))

	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{Addr: os.Args[1], Handler: mux, Protocols: protocols}
	go func() { log.Fatal(server.ListenAndServe()) }()

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	fmt.Println(calls.Load())
}
