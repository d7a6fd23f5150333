// The contract's service on Apache Thrift.
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging.Abstractions;
using Rpcbench;
using Rpcbench.V1;
using Thrift;
using Thrift.Processor;
using Thrift.Protocol;
using Thrift.Server;
using Thrift.Transport;
using Thrift.Transport.Server;

TTransportFactory transport = Service.Protocol.Contains("buffered", StringComparison.Ordinal)
    ? new TBufferedTransport.Factory()
    : new TFramedTransport.Factory();
TProtocolFactory protocol = Service.Protocol.Contains("compact", StringComparison.Ordinal)
    ? new TCompactProtocol.Factory()
    : new TBinaryProtocol.Factory();

using var listener = new TcpListener(Service.Address());
// Accepted connections inherit it.
listener.Server.NoDelay = true;
try
{
    // The library's server would only log a failure to listen.
    listener.Start();
}
catch (SocketException error)
{
    Console.Error.WriteLine($"dotnet-thrift: cannot listen on {listener.LocalEndpoint}: {error.Message}");
    return 1;
}

// The defaults: the thread pool's limits, and the library's for messages and frames.
var server = new TThreadPoolAsyncServer(
    new TSingletonProcessorFactory(new Echo.AsyncProcessor(new EchoHandler())),
    Service.Certificate() is { } certificate
        ? new TlsListener(listener, certificate)
        : new TServerSocketTransport(listener, new TConfiguration()),
    transport,
    transport,
    protocol,
    protocol,
    new TThreadPoolAsyncServer.Configuration(),
    NullLogger.Instance);
using var terminated = PosixSignalRegistration.Create(PosixSignal.SIGTERM, signal =>
{
    signal.Cancel = true;
    server.Stop();
});
RuntimeLog.StartIfRequested();
await server.ServeAsync(CancellationToken.None);
return 0;
