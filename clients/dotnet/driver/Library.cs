namespace Rpcbench;

/// <summary>How calls share the connections of a library.</summary>
internal enum Sharing
{
    /// <summary>A connection carries several calls at a time.</summary>
    Multiplexed,

    /// <summary>A connection carries one call at a time.</summary>
    Exclusive,

    /// <summary>Connections belong to the library's pool, which opens them with its first calls; each carries one at a time.</summary>
    Pooled,
}

/// <summary>Where and how to open connections.</summary>
/// <param name="Host">An address.</param>
/// <param name="Connections">The maximum size of a pool.</param>
/// <param name="Timeout">The timeout of a call.</param>
/// <param name="CallsPerConnection">The number of calls after which a connection is closed; 0 for no limit.</param>
internal sealed record Target(string Host, int Port, int Connections, TimeSpan Timeout, int CallsPerConnection);

/// <summary>A client library.</summary>
/// <typeparam name="TClient">Makes the calls of one connection, or of a pool.</typeparam>
internal sealed class Library<TClient>
{
    /// <summary>The library's name in the manifest.</summary>
    public required string Name { get; init; }

    public required string Version { get; init; }

    public required Sharing Sharing { get; init; }

    /// <summary>Creates a client that is not connected yet.</summary>
    public required Func<Target, TClient> Create { get; init; }

    /// <summary>Connects; does nothing if the library connects with its first calls.</summary>
    public Func<TClient, Task> Connect { get; init; } = _ => Task.CompletedTask;

    public required Action<TClient> Close { get; init; }

    /// <summary>Classifies the exception of a call.</summary>
    public required Func<Exception, Outcome> Outcome { get; init; }

    /// <summary>The contract's methods, by shape.</summary>
    public required Dictionary<string, IMethod<TClient>> Methods { get; init; }
}

/// <summary>How a call ended.</summary>
/// <param name="Kind">The contract's number.</param>
/// <param name="Status">The protocol's status, if there is one.</param>
internal readonly record struct Outcome(byte Kind, ushort Status)
{
    public static readonly Outcome Ok = new(0, 0);
    public static readonly Outcome WrongAnswer = new(1, 0);
    public static readonly Outcome Timeout = new(3, 0);
    public static readonly Outcome Transport = new(4, 0);
    public static readonly Outcome NotSent = new(5, 0);

    public static Outcome OfStatus(int status) => new(2, (ushort)status);
}
