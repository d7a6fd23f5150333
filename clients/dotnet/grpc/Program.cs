// Calls the contract's service with Grpc.Net.Client.
using Google.Protobuf;
using Grpc.Core;
using Grpc.Net.Client;
using Rpcbench;
using Rpcbench.V1;

return Driver.Run(new Library<Channel>
{
    Name = "Grpc.Net.Client",
    Version = Driver.VersionOf(typeof(GrpcChannel)),
    Sharing = Sharing.Multiplexed,
    Create = target => new Channel(target),
    Connect = channel => channel.Connect(),
    Close = channel => channel.Close(),
    Outcome = Errors.Outcome,
    Methods = new()
    {
        ["text"] = new Method<Channel, TextRequest, TextReply>
        {
            Decode = TextRequest.Parser.ParseFrom,
            Text = request => request.Text,
            Patch = (request, text) =>
            {
                request.Text = text;
                return request;
            },
            Echo = reply => reply.Echo,
            Call = (channel, request) => channel.Echo.TextAsync(request, deadline: channel.Deadline).ResponseAsync,
        },
        ["record"] = new Method<Channel, RecordRequest, RecordReply>
        {
            Decode = RecordRequest.Parser.ParseFrom,
            Text = request => request.Record.Field1,
            Patch = (request, text) =>
            {
                request.Record.Field1 = text;
                return request;
            },
            Echo = reply => reply.Echo?.Field1,
            Equal = (request, reply) => request.Record.Equals(reply.Echo),
            Call = (channel, request) => channel.Echo.RecordAsync(request, deadline: channel.Deadline).ResponseAsync,
        },
        ["dto"] = new Method<Channel, DtoRequest, DtoReply>
        {
            Decode = DtoRequest.Parser.ParseFrom,
            Text = request => request.Dto.Prop1,
            Patch = (request, text) =>
            {
                request.Dto.Prop1 = text;
                return request;
            },
            Echo = reply => reply.Echo?.Prop1,
            Equal = (request, reply) => request.Dto.Equals(reply.Echo),
            Call = (channel, request) => channel.Echo.DtoAsync(request, deadline: channel.Deadline).ResponseAsync,
        },
        ["tree"] = new Method<Channel, TreeRequest, TreeReply>
        {
            Decode = TreeRequest.Parser.ParseFrom,
            Text = request => request.Tree.Name,
            Patch = (request, text) =>
            {
                request.Tree.Name = text;
                return request;
            },
            Echo = reply => reply.Echo?.Name,
            Equal = (request, reply) => request.Tree.Equals(reply.Echo),
            Call = (channel, request) => channel.Echo.TreeAsync(request, deadline: channel.Deadline).ResponseAsync,
        },
    },
});

/// <summary>A channel with one connection. The library retries nothing unless configured to.</summary>
internal sealed class Channel
{
    private static readonly TimeSpan OpenTimeout = TimeSpan.FromSeconds(10);

    private readonly GrpcChannel channel;
    private readonly TimeSpan timeout;

    public Channel(Target target)
    {
        // Idle connections stay open, as Microsoft's guide to gRPC performance advises.
        var handler = new SocketsHttpHandler { PooledConnectionIdleTimeout = Timeout.InfiniteTimeSpan };
        channel = GrpcChannel.ForAddress(
            $"http://{target.Host}:{target.Port}", new GrpcChannelOptions { HttpHandler = handler, DisposeHttpClient = true });
        timeout = target.Timeout;
        Echo = new Echo.EchoClient(channel);
    }

    public Echo.EchoClient Echo { get; }

    public DateTime Deadline => DateTime.UtcNow + timeout;

    public async Task Connect()
    {
        using var cts = new CancellationTokenSource(OpenTimeout);
        try
        {
            await channel.ConnectAsync(cts.Token);
        }
        catch (OperationCanceledException)
        {
            throw new TimeoutException($"no connection to {channel.Target} within {OpenTimeout.TotalSeconds} s");
        }
    }

    public void Close() => channel.Dispose();
}

internal static class Errors
{
    /// <summary>Separates the server's statuses from those that the library raises, which have a cause or a known text.</summary>
    public static Outcome Outcome(Exception error)
    {
        if (error is not RpcException { Status: var status })
        {
            return Rpcbench.Outcome.Transport;
        }
        if (status.StatusCode == StatusCode.DeadlineExceeded)
        {
            return Rpcbench.Outcome.Timeout;
        }
        if (status.DebugException is InvalidProtocolBufferException)
        {
            return Rpcbench.Outcome.WrongAnswer;
        }
        var isLocal = status.DebugException is not null || status.Detail.StartsWith("Bad gRPC response", StringComparison.Ordinal)
            || status.Detail.StartsWith("No grpc-status found", StringComparison.Ordinal);
        return isLocal ? Rpcbench.Outcome.Transport : Rpcbench.Outcome.OfStatus((int)status.StatusCode);
    }
}
