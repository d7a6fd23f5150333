// Calls the contract's service with Apache Thrift.
using System.Net;
using Rpcbench;
using Rpcbench.V1;
using Thrift;
using Thrift.Protocol;
using Thrift.Transport;
using Thrift.Transport.Client;

return Driver.Run(new Library<Connection>
{
    Name = "ApacheThrift",
    Version = Driver.VersionOf(typeof(TBase)),
    Sharing = Sharing.Exclusive,
    Create = target => new Connection(target),
    Connect = connection => connection.Open(),
    Close = connection => connection.Close(),
    Outcome = Errors.Outcome,
    Methods = new()
    {
        ["text"] = new Method<Connection, TextRequest, TextReply>
        {
            Decode = Struct.Decode<TextRequest>,
            Text = request => request.Text!,
            Patch = (request, text) =>
            {
                request.Text = text;
                return request;
            },
            Echo = reply => reply.Echo,
            Call = (connection, request) => connection.Call((echo, token) => echo.Text(request, token)),
        },
        ["record"] = new Method<Connection, RecordRequest, RecordReply>
        {
            Decode = Struct.Decode<RecordRequest>,
            Text = request => request.Record!.Field1!,
            Patch = (request, text) =>
            {
                request.Record!.Field1 = text;
                return request;
            },
            Echo = reply => reply.Echo?.Field1,
            Equal = (request, reply) => request.Record!.Equals(reply.Echo),
            Call = (connection, request) => connection.Call((echo, token) => echo.Record(request, token)),
        },
        ["dto"] = new Method<Connection, DtoRequest, DtoReply>
        {
            Decode = Struct.Decode<DtoRequest>,
            Text = request => request.Dto!.Prop1!,
            Patch = (request, text) =>
            {
                request.Dto!.Prop1 = text;
                return request;
            },
            Echo = reply => reply.Echo?.Prop1,
            Equal = (request, reply) => request.Dto!.Equals(reply.Echo),
            Call = (connection, request) => connection.Call((echo, token) => echo.Dto(request, token)),
        },
        ["tree"] = new Method<Connection, TreeRequest, TreeReply>
        {
            Decode = Struct.Decode<TreeRequest>,
            Text = request => request.Tree!.Name!,
            Patch = (request, text) =>
            {
                request.Tree!.Name = text;
                return request;
            },
            Echo = reply => reply.Echo?.Name,
            Equal = (request, reply) => Struct.Equal(request.Tree!, reply.Echo!),
            Call = (connection, request) => connection.Call((echo, token) => echo.Tree(request, token)),
        },
    },
});

/// <summary>Framed transport and binary protocol, with the library's limits.</summary>
internal sealed class Connection
{
    private readonly Echo.Client echo;
    private readonly TTransport transport;
    private readonly TimeSpan timeout;

    public Connection(Target target)
    {
        var configuration = new TConfiguration();
        transport = new TFramedTransport(new TSocketTransport(IPAddress.Parse(target.Host), target.Port, configuration));
        echo = new Echo.Client(new TBinaryProtocol(transport));
        timeout = target.Timeout;
    }

    public async Task Open()
    {
        using var cts = new CancellationTokenSource(timeout);
        await echo.OpenTransportAsync(cts.Token);
    }

    /// <summary>Makes a call with a timeout. That of the library's sockets applies to blocking operations only.</summary>
    public async Task<TReply> Call<TReply>(Func<Echo.Client, CancellationToken, Task<TReply>> call)
    {
        using var cts = new CancellationTokenSource(timeout);
        return await call(echo, cts.Token).ConfigureAwait(false);
    }

    public void Close()
    {
        echo.Dispose();
        transport.Dispose();
    }
}

internal static class Struct
{
    public static T Decode<T>(byte[] encoded)
        where T : TBase, new()
    {
        using var memory = new TMemoryBufferTransport(encoded, new TConfiguration());
        using var protocol = new TBinaryProtocol(memory);
        var decoded = new T();
        decoded.ReadAsync(protocol, CancellationToken.None).GetAwaiter().GetResult();
        return decoded;
    }

    /// <summary>The library's equality, except that the order of the map does not matter.</summary>
    public static bool Equal(TreeNode sent, TreeNode echo)
    {
        var counters = sent.Counters!;
        if (echo.Counters?.Count != counters.Count
            || !counters.All(entry => echo.Counters.TryGetValue(entry.Key, out var value) && value == entry.Value))
        {
            return false;
        }
        echo.Counters = counters;
        return sent.Equals(echo);
    }
}

internal static class Errors
{
    public static Outcome Outcome(Exception error) => error switch
    {
        TApplicationException exception => Rpcbench.Outcome.OfStatus((int)exception.Type),
        OperationCanceledException => Rpcbench.Outcome.Timeout,
        TTransportException { Type: TTransportException.ExceptionType.TimedOut } => Rpcbench.Outcome.Timeout,
        // A length in the reply exceeds its frame.
        TTransportException { Type: TTransportException.ExceptionType.MessageSizeLimit } => Rpcbench.Outcome.WrongAnswer,
        TTransportException => Rpcbench.Outcome.Transport,
        TProtocolException => Rpcbench.Outcome.WrongAnswer,
        _ => Rpcbench.Outcome.Transport,
    };
}
