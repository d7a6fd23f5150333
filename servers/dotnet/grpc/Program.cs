// The contract's service on gRPC for ASP.NET Core.
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Rpcbench;

// HTTP/2 only, since without TLS nothing negotiates the version.
var builder = Service.Builder(HttpProtocols.Http2);
builder.Services.AddGrpc();

var app = builder.Build();
app.MapGrpcService<EchoService>();
return app.Serve("dotnet-grpc");
