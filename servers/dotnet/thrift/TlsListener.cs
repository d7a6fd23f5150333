using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Thrift;
using Thrift.Transport;
using Thrift.Transport.Client;

/// <summary>
/// Accepts TLS connections with SslStream's defaults. The library's transport speaks TLS 1.2 by default, and finishes a handshake before it
/// accepts the next connection.
/// </summary>
internal sealed class TlsListener(TcpListener listener, X509Certificate2 certificate)
    : TServerTransport(new TConfiguration())
{
    // Shared, so that sessions can be resumed.
    private readonly SslServerAuthenticationOptions options = new()
    {
        ServerCertificateContext = SslStreamCertificateContext.Create(certificate, null),
    };

    public override void Listen()
    {
        // The listener is already started.
    }

    public override void Close() => listener.Stop();

    public override bool IsOpen() => listener.Server.IsBound;

    public override bool IsClientPending() => listener.Pending();

    protected override async ValueTask<TTransport> AcceptImplementationAsync(CancellationToken cancellationToken)
    {
        var client = await listener.AcceptTcpClientAsync(cancellationToken);
        return new Connection(new SslStream(client.GetStream()), options, Configuration);
    }

    /// <summary>Makes the handshake with the first read, in the connection's task.</summary>
    private sealed class Connection(SslStream stream, SslServerAuthenticationOptions options, TConfiguration configuration)
        : TStreamTransport(stream, stream, configuration)
    {
        public override bool IsOpen => true;

        public override async ValueTask<int> ReadAsync(byte[] buffer, int offset, int length, CancellationToken token)
        {
            if (!stream.IsAuthenticated)
            {
                await stream.AuthenticateAsServerAsync(options, token);
            }
            return await base.ReadAsync(buffer, offset, length, token);
        }
    }
}
