// The contract's service as JSON on controllers.
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Rpcbench;

var builder = Service.Builder(HttpProtocols.Http1);
builder.Services.AddControllers().AddJsonOptions(options => Messages.Strict(options.JsonSerializerOptions));

var app = builder.Build();
app.MapControllers();
return app.Serve("dotnet-mvc");
