module rpcbench.dev/servers/go/thrift

go 1.26.0

replace rpcbench.dev/servers/go/service => ../service

require github.com/apache/thrift v0.25.0

require rpcbench.dev/servers/go/service v0.0.0
