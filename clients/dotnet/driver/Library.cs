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

/// <summary>Where to, and how, connections are opened.</summary>
/// <param name="Host">An address.</param>
/// <param name="Connections">The largest number of connections of a pool.</param>
/// <param name="Timeout">Of a call.</param>
/// <param name="CallsPerConnection">After how many calls a pool closes a connection; 0 if it keeps them.</param>
internal sealed record Target(string Host, int Port, int Connections, TimeSpan Timeout, int CallsPerConnection);

/// <summary>A client library.</summary>
/// <typeparam name="TClient">Makes the calls of one connection, or of a pool.</typeparam>
internal sealed class Library<TClient>
{
    /// <summary>As in the manifest.</summary>
    public required string Name { get; init; }

    public required string Version { get; init; }

    public required Sharing Sharing { get; init; }

    /// <summary>Makes a client without a connection.</summary>
    public required Func<Target, TClient> Create { get; init; }

    /// <summary>Connects, unless the library does that with the first calls.</summary>
    public Func<TClient, Task> Connect { get; init; } = _ => Task.CompletedTask;

    public required Action<TClient> Close { get; init; }

    /// <summary>The outcome of a call that failed.</summary>
    public required Func<Exception, Outcome> Outcome { get; init; }

    /// <summary>Those of the contract, by shape.</summary>
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
