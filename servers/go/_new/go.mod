module rpcbench.dev/servers/go/LIBRARY

go 1.26.0

replace rpcbench.dev/servers/go/service => ../service

require rpcbench.dev/servers/go/service v0.0.0
