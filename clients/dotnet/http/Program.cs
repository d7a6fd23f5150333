// Calls the contract's service as JSON with HttpClient and System.Text.Json.
using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text.Json;
using System.Text.Json.Nodes;
using Rpcbench;

return Driver.Run(new Library<Pool>
{
    Name = "HttpClient",
    Version = Environment.Version.ToString(),
    Sharing = Sharing.Pooled,
    Create = target => new Pool(target),
    Close = pool => pool.Dispose(),
    Outcome = Errors.Outcome,
    Methods = new()
    {
        ["text"] = new Method<Pool, TextRequest, TextReply>
        {
            Decode = Json.Decode<TextRequest>,
            Text = request => request.Text,
            Patch = (request, text) => request with { Text = text },
            Echo = reply => reply.Echo,
            Call = (pool, request) => pool.Post<TextRequest, TextReply>("Text", request),
        },
        ["record"] = new Method<Pool, RecordRequest, RecordReply>
        {
            Decode = Json.Decode<RecordRequest>,
            Text = request => request.Record.Field1,
            Patch = (request, text) =>
            {
                request.Record.Field1 = text;
                return request;
            },
            Echo = reply => reply.Echo.Field1,
            Equal = (request, reply) => Json.Equal(request.Record, reply.Echo),
            Call = (pool, request) => pool.Post<RecordRequest, RecordReply>("Record", request),
        },
        ["dto"] = new Method<Pool, DtoRequest, DtoReply>
        {
            Decode = Json.Decode<DtoRequest>,
            Text = request => request.Dto.Prop1,
            Patch = (request, text) =>
            {
                request.Dto.Prop1 = text;
                return request;
            },
            Echo = reply => reply.Echo.Prop1,
            Equal = (request, reply) => Json.Equal(request.Dto, reply.Echo),
            Call = (pool, request) => pool.Post<DtoRequest, DtoReply>("Dto", request),
        },
        ["tree"] = new Method<Pool, TreeRequest, TreeReply>
        {
            Decode = Json.Decode<TreeRequest>,
            Text = request => request.Tree.Name,
            Patch = (request, text) =>
            {
                request.Tree.Name = text;
                return request;
            },
            Echo = reply => reply.Echo.Name,
            Equal = (request, reply) => Json.Equal(request.Tree, reply.Echo),
            Call = (pool, request) => pool.Post<TreeRequest, TreeReply>("Tree", request),
        },
    },
});

internal static class Json
{
    public static readonly JsonSerializerOptions Options = Create();
    public static readonly MediaTypeHeaderValue ContentType = new("application/json");

    private static JsonSerializerOptions Create()
    {
        var options = new JsonSerializerOptions(JsonSerializerDefaults.Web);
        Messages.Strict(options);
        return options;
    }

    public static T Decode<T>(byte[] encoded) => JsonSerializer.Deserialize<T>(encoded, Options)!;

    public static byte[] Encode<T>(T message) => JsonSerializer.SerializeToUtf8Bytes(message, Options);

    /// <summary>Compares encoded bytes and, if those differ, values: a map may have another order.</summary>
    public static bool Equal<T>(T sent, T echo) =>
        Encode(sent).AsSpan().SequenceEqual(Encode(echo))
        || JsonNode.DeepEquals(JsonSerializer.SerializeToNode(sent, Options), JsonSerializer.SerializeToNode(echo, Options));
}

/// <summary>The library's defaults, except that the pool has the load's size and keeps idle connections open.</summary>
internal sealed class Pool : IDisposable
{
    private readonly HttpClient http;
    private readonly int callsPerConnection;
    private long calls;

    public Pool(Target target)
    {
        var handler = new SocketsHttpHandler
        {
            MaxConnectionsPerServer = target.Connections,
            PooledConnectionIdleTimeout = Timeout.InfiniteTimeSpan,
        };
        http = new HttpClient(handler)
        {
            BaseAddress = new Uri($"http://{target.Host}:{target.Port}/rpcbench.v1.Echo/"),
            Timeout = target.Timeout,
        };
        callsPerConnection = target.CallsPerConnection;
    }

    public async Task<TReply> Post<TRequest, TReply>(string method, TRequest message)
    {
        // Bytes, since their length is known; JsonContent would be sent in chunks.
        using var content = new ByteArrayContent(Json.Encode(message));
        content.Headers.ContentType = Json.ContentType;
        using var request = new HttpRequestMessage(HttpMethod.Post, method) { Content = content };
        if (callsPerConnection > 0 && Interlocked.Increment(ref calls) % callsPerConnection == 0)
        {
            request.Headers.ConnectionClose = true;
        }
        using var response = await http.SendAsync(request).ConfigureAwait(false);
        if (response.StatusCode != HttpStatusCode.OK)
        {
            throw new StatusException((int)response.StatusCode);
        }
        return await response.Content.ReadFromJsonAsync<TReply>(Json.Options).ConfigureAwait(false)
            ?? throw new JsonException("the reply is null");
    }

    public void Dispose() => http.Dispose();
}

internal sealed class StatusException(int status) : Exception($"HTTP status {status}")
{
    public int Status { get; } = status;
}

internal static class Errors
{
    public static Outcome Outcome(Exception error) => error switch
    {
        StatusException status => Rpcbench.Outcome.OfStatus(status.Status),
        // A timeout, since nothing cancels calls.
        TaskCanceledException => Rpcbench.Outcome.Timeout,
        JsonException or NotSupportedException or InvalidOperationException => Rpcbench.Outcome.WrongAnswer,
        _ => Rpcbench.Outcome.Transport,
    };
}
