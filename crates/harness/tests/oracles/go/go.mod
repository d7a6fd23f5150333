module rpcbench.dev/oracle

go 1.26.0

require rpcbench.dev/servers/go/service v0.0.0

replace rpcbench.dev/servers/go/service => ../../../../../servers/go/service
