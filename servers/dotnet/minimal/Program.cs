// The contract's service as JSON on a minimal API, with serialisers generated at compile time.
using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Rpcbench;

// Without TLS, a port of Kestrel speaks one version of HTTP.
var builder = Service.Builder(Service.Protocol == "json-h2c" ? HttpProtocols.Http2 : HttpProtocols.Http1);
builder.Services.ConfigureHttpJsonOptions(options =>
{
    Messages.Strict(options.SerializerOptions);
    options.SerializerOptions.TypeInfoResolverChain.Insert(0, EchoJson.Default);
});

var app = builder.Build();
var echo = app.MapGroup("/rpcbench.v1.Echo");
echo.MapPost("/Text", (TextRequest request) => new TextReply(request.Text));
echo.MapPost("/Record", (RecordRequest request) => new RecordReply(request.Record));
echo.MapPost("/Dto", (DtoRequest request) => new DtoReply(request.Dto));
echo.MapPost("/Tree", (TreeRequest request) => new TreeReply(request.Tree));
return app.Serve("dotnet-minimal");

[JsonSerializable(typeof(TextRequest))]
[JsonSerializable(typeof(TextReply))]
[JsonSerializable(typeof(RecordRequest))]
[JsonSerializable(typeof(RecordReply))]
[JsonSerializable(typeof(DtoRequest))]
[JsonSerializable(typeof(DtoReply))]
[JsonSerializable(typeof(TreeRequest))]
[JsonSerializable(typeof(TreeReply))]
internal sealed partial class EchoJson : JsonSerializerContext;
