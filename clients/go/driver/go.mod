module rpcbench.dev/clients/go/driver

go 1.26.0

replace rpcbench.dev/servers/go/service => ../../../servers/go/service

require (
	golang.org/x/sys v0.48.0
	rpcbench.dev/servers/go/service v0.0.0
)
