using System.Net.Sockets;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.Json.Nodes;

namespace Rpcbench;

/// <summary>Shared by the client programs in .NET: everything in contract/clients.md except the calls.</summary>
internal static class Driver
{
    /// <summary>Executes rpcbench's commands until it closes the socket or sends SIGTERM. Returns the exit code.</summary>
    public static int Run<TClient>(Library<TClient> library)
    {
        if (Environment.GetEnvironmentVariable("RPCBENCH_SOCKET") is not { } path)
        {
            Console.Error.WriteLine($"{library.Name}: RPCBENCH_SOCKET is not set; rpcbench starts this program");
            return 1;
        }
        RuntimeLog.StartIfRequested();
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        socket.Connect(new UnixDomainSocketEndPoint(path));
        new Driver<TClient>(library, new Wire(socket)).Serve();
        // Calls may be in flight.
        Environment.Exit(0);
        return 0;
    }

    /// <summary>The version of the package that defines a type.</summary>
    public static string VersionOf(Type type) =>
        type.Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? "unknown";
}

internal sealed class Driver<TClient>(Library<TClient> library, Wire wire)
{
    private const string Checks = "text: the whole string; others: the field with the nonce, and on every 16th call the whole message";

    private Load<TClient>? load;
    // The run in progress, if any.
    private volatile Run<TClient>? run;

    public void Serve()
    {
        wire.Send("hello", ("version", 1), ("language", ".NET"), ("library", library.Name), ("library_version", library.Version),
            ("runtime", RuntimeInformation.FrameworkDescription), ("checks", Checks), ("clock_ns", Clock.Now()));
        while (wire.Read() is { } message)
        {
            var received = Clock.Now();
            var type = (string?)message["type"] ?? "";
            if (type is "start" or "stop")
            {
                wire.Send("ack", ("of", type), ("received_ns", received));
            }
            try
            {
                Obey(type, message);
            }
            catch (Exception error)
            {
                wire.Send("failed", ("error", $"{type}: {error.InnerException?.Message ?? error.Message}"));
            }
        }
    }

    private void Obey(string type, JsonNode message)
    {
        if (run is not null && type != "stop")
        {
            throw new InvalidOperationException("a load is running; stop it first");
        }
        switch (type)
        {
            case "open":
                Open(message);
                break;
            case "start":
                Start(message);
                break;
            case "stop":
                run?.Stop((long)message["at_ns"]!);
                break;
            case "close":
                load?.Close();
                load = null;
                break;
            default:
                throw new InvalidOperationException("unknown type; expected open, start, stop or close");
        }
    }

    private void Open(JsonNode message)
    {
        if (load is not null)
        {
            throw new InvalidOperationException("connections are open; close them first");
        }
        var opening = new Load<TClient>(library, message);
        try
        {
            opening.Open();
        }
        catch
        {
            opening.Close();
            throw;
        }
        load = opening;
        wire.Send("opened", ("connections", load.Opened));
    }

    private void Start(JsonNode message)
    {
        if (load is null)
        {
            throw new InvalidOperationException("no connections are open; send 'open' first");
        }
        var starting = new Run<TClient>(load, message, wire);
        run = starting;
        new Thread(() =>
        {
            var calls = starting.Make();
            run = null;
            wire.Send("stopped", ("calls", calls));
        }).Start();
    }
}
