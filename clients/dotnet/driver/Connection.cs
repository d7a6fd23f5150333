namespace Rpcbench;

/// <summary>An open connection, or a pool.</summary>
internal sealed class Line<TClient>(TClient client)
{
    public readonly TClient Client = client;
    public int Calls;
    public int InFlight;
}

/// <summary>Replaces its line after a number of calls, or when an exclusive one breaks.</summary>
internal sealed class Connection<TClient>(Library<TClient> library, Target target)
{
    private readonly int limit = library.Sharing == Sharing.Pooled ? 0 : target.CallsPerConnection;
    private readonly Lock guard = new();
    private Line<TClient>? current;

    public async Task Open()
    {
        current = new Line<TClient>(library.Create(target));
        await library.Connect(current.Client).ConfigureAwait(false);
    }

    /// <summary>Returns the line for the next call, and opens one if needed.</summary>
    public ValueTask<Line<TClient>> Take()
    {
        lock (guard)
        {
            if (current is null && library.Sharing == Sharing.Exclusive)
            {
                return new(OpenAndTake());
            }
            current ??= new Line<TClient>(library.Create(target));
            return new(Count(current));
        }
    }

    // Outside the lock: an exclusive connection has one slot.
    private async Task<Line<TClient>> OpenAndTake()
    {
        await Open().ConfigureAwait(false);
        return Count(current!);
    }

    private Line<TClient> Count(Line<TClient> line)
    {
        line.Calls++;
        line.InFlight++;
        if (line.Calls == limit)
        {
            current = null;
        }
        return line;
    }

    /// <summary>Ends a call. An exclusive line is dropped after a call without a reply, which may still come.</summary>
    public void Give(Line<TClient> line, Outcome outcome)
    {
        lock (guard)
        {
            line.InFlight--;
            if (library.Sharing == Sharing.Exclusive && outcome.Kind is not (0 or 2) && line == current)
            {
                current = null;
            }
            if (line == current || line.InFlight > 0)
            {
                return;
            }
        }
        library.Close(line.Client);
    }

    public void Close()
    {
        if (current is not null)
        {
            library.Close(current.Client);
            current = null;
        }
    }
}

/// <summary>Makes calls one at a time, all on one connection or pool.</summary>
internal sealed class Slot<TClient>(
    uint number, Connection<TClient> connection, ICaller<TClient> caller, Func<Exception, Outcome> outcomes)
{
    public readonly uint Number = number;

    public async ValueTask<Outcome> Call()
    {
        Line<TClient> line;
        try
        {
            line = await connection.Take().ConfigureAwait(false);
        }
        catch (Exception error)
        {
            connection.Close();
            return outcomes(error);
        }
        var outcome = await caller.Call(line.Client).ConfigureAwait(false);
        connection.Give(line, outcome);
        return outcome;
    }
}
