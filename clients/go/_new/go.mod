module rpcbench.dev/clients/go/LIBRARY

go 1.26.0

replace (
	rpcbench.dev/clients/go/driver => ../driver
	rpcbench.dev/servers/go/service => ../../../servers/go/service
)

require rpcbench.dev/clients/go/driver v0.0.0

require (
	golang.org/x/sys v0.48.0 // indirect
	rpcbench.dev/servers/go/service v0.0.0 // indirect
)
