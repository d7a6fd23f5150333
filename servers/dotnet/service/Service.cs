using System.Net;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Rpcbench;

/// <summary>Sets up, starts and stops every .NET server. The launcher has checked the settings in the environment.</summary>
internal static class Service
{
    // How long calls in flight may take after SIGTERM.
    private static readonly TimeSpan DrainTimeout = TimeSpan.FromSeconds(2);

    // The client decides how long connections live: longer than any pause between calls.
    private static readonly TimeSpan IdleTimeout = TimeSpan.FromHours(1);

    /// <summary>An application builder with the address, without logging, and otherwise with ASP.NET Core's defaults.</summary>
    public static WebApplicationBuilder Builder(HttpProtocols protocols)
    {
        var builder = WebApplication.CreateBuilder();
        builder.Logging.ClearProviders();
        builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = DrainTimeout);
        builder.WebHost.ConfigureKestrel(options =>
        {
            options.Limits.KeepAliveTimeout = IdleTimeout;
            options.Listen(Address(), listener =>
            {
                listener.Protocols = protocols;
                if (Certificate() is { } certificate)
                {
                    listener.UseHttps(certificate);
                }
            });
        });
        return builder;
    }

    /// <summary>Serves until SIGTERM. Returns the exit code.</summary>
    public static int Serve(this WebApplication app, string name)
    {
        try
        {
            RuntimeLog.StartIfRequested();
            app.Run();
            return 0;
        }
        catch (IOException error)
        {
            Console.Error.WriteLine($"{name}: {error.Message}");
            return 1;
        }
    }

    /// <summary>The protocol of all calls to this process.</summary>
    public static string Protocol => Setting("RPCBENCH_PROTOCOL");

    /// <summary>Where to listen.</summary>
    public static IPEndPoint Address() =>
        new(IPAddress.Parse(Setting("RPCBENCH_HOST")), int.Parse(Setting("RPCBENCH_PORT")));

    /// <summary>The certificate of a server with TLS. Kestrel offers the versions that the system allows, and resumes sessions.</summary>
    public static X509Certificate2? Certificate() =>
        Environment.GetEnvironmentVariable("RPCBENCH_TLS_CERT") is { Length: > 0 } path
            ? X509Certificate2.CreateFromPemFile(path, Setting("RPCBENCH_TLS_KEY"))
            : null;

    private static string Setting(string name) =>
        Environment.GetEnvironmentVariable(name) ?? throw new InvalidOperationException($"{name} is not set");
}
