// Command tls answers requests of HTTP/1.1 over Go's crypto/tls.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

var versions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

func main() {
	address := flag.String("listen", "", "address")
	cert := flag.String("cert", "", "certificate (PEM)")
	key := flag.String("key", "", "its key (PEM)")
	clients := flag.String("clients", "", "authority of the clients' certificates (PEM); without it they need none")
	version := flag.String("version", "", "the only version of TLS: 1.2 or 1.3")
	alpn := flag.String("alpn", "", "the only protocol that ALPN chooses")
	keys := flag.String("keys", "", "file to log keys to")
	cbc := flag.Bool("cbc", false, "know only a suite of TLS 1.2 that is no longer offered")
	flag.Parse()

	identity, err := tls.LoadX509KeyPair(*cert, *key)
	must(err)
	config := &tls.Config{Certificates: []tls.Certificate{identity}}
	if *version != "" {
		config.MinVersion, config.MaxVersion = versions[*version], versions[*version]
	}
	if *cbc {
		config.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}
	}
	if *alpn != "" {
		config.NextProtos = []string{*alpn}
	}
	if *clients != "" {
		pem, err := os.ReadFile(*clients)
		must(err)
		config.ClientCAs = x509.NewCertPool()
		config.ClientCAs.AppendCertsFromPEM(pem)
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if *keys != "" {
		config.KeyLogWriter, err = os.Create(*keys)
		must(err)
	}
	listener, err := net.Listen("tcp", *address)
	must(err)
	answer := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "text") }
	// It reports each handshake that fails.
	server := http.Server{Handler: http.HandlerFunc(answer), ErrorLog: log.New(io.Discard, "", 0)}
	must(server.Serve(tls.NewListener(listener, config)))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
