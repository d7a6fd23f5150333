module rpcbench.dev/clients/go/driver

go 1.26.0

replace rpcbench.dev/servers/go/service => ../../../servers/go/service

require rpcbench.dev/servers/go/service v0.0.0

require golang.org/x/sys v0.48.0
