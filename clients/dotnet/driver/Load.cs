using System.Buffers.Binary;
using System.Text.Json.Nodes;

namespace Rpcbench;

/// <summary>The connections and encoded requests between `open` and `close`.</summary>
internal sealed class Load<TClient>
{
    public readonly Library<TClient> Library;
    public readonly Target Target;
    public readonly Slot<TClient>[] Slots;
    private readonly IMethod<TClient> method;
    private readonly List<byte[]> requests;
    private readonly Connection<TClient>[] connections;

    public Load(Library<TClient> library, JsonNode message)
    {
        Library = library;
        var shape = (string)message["shape"]!;
        if (!library.Methods.TryGetValue(shape, out method!))
        {
            throw new InvalidDataException($"unknown shape '{shape}'");
        }
        var (host, port) = Address((string)message["target"]!);
        var inFlight = (int)message["in_flight"]!;
        var timeout = (long)message["timeout_ns"]!;
        Target = new Target(host, port, (int)message["connections"]!, TimeSpan.FromTicks(timeout / 100),
            (int?)message["calls_per_connection"] ?? 0);
        if (Target.Connections < 1 || inFlight < 1 || timeout < 1)
        {
            throw new InvalidDataException("connections, in_flight and timeout_ns must be 1 or more");
        }
        if (library.Sharing != Sharing.Multiplexed && inFlight > 1)
        {
            throw new InvalidDataException($"in_flight is {inFlight}, but a connection of {library.Name} makes one call at a time");
        }
        requests = ReadRequests((string)message["requests"]!);
        var number = library.Sharing == Sharing.Pooled ? 1 : Target.Connections;
        connections = [.. Enumerable.Range(0, number).Select(_ => new Connection<TClient>(library, Target))];
        Slots = NewSlots(Target.Connections * inFlight);
    }

    private static (string Host, int Port) Address(string target)
    {
        var colon = target.LastIndexOf(':');
        return (target[..colon], int.Parse(target.AsSpan(colon + 1)));
    }

    /// <summary>Divides the requests among slots. With fewer requests than slots, several slots have the same one.</summary>
    public Slot<TClient>[] NewSlots(int number)
    {
        var slots = new Slot<TClient>[number];
        for (var slot = 0; slot < number; slot++)
        {
            var own = new List<byte[]>();
            for (var i = slot % requests.Count; i < requests.Count; i += number)
            {
                own.Add(requests[i]);
            }
            var caller = method.Caller(own, Library.Outcome);
            slots[slot] = new Slot<TClient>((uint)slot, connections[slot % connections.Length], caller, Library.Outcome);
        }
        return slots;
    }

    public void Open() => Task.WaitAll(connections.Select(connection => connection.Open()));

    /// <summary>The number of open connections; 0 if a pool opens them with its first calls.</summary>
    public int Opened => Library.Sharing == Sharing.Pooled ? 0 : connections.Length;

    public void Close()
    {
        foreach (var connection in connections)
        {
            connection.Close();
        }
    }

    // Each request is preceded by its length.
    private static List<byte[]> ReadRequests(string path)
    {
        var requests = new List<byte[]>();
        for (ReadOnlySpan<byte> file = File.ReadAllBytes(path); file.Length > 0;)
        {
            var length = file.Length < 4 ? uint.MaxValue : BinaryPrimitives.ReadUInt32LittleEndian(file);
            if (length > file.Length - 4)
            {
                throw new InvalidDataException($"{path}: request {requests.Count} is cut short");
            }
            requests.Add(file.Slice(4, (int)length).ToArray());
            file = file[(4 + (int)length)..];
        }
        return requests.Count > 0 ? requests : throw new InvalidDataException($"{path}: no requests");
    }

    /// <summary>Reads a file of due times.</summary>
    public static long[] ReadSchedule(string path)
    {
        var file = File.ReadAllBytes(path);
        var schedule = new long[file.Length / 8];
        for (var i = 0; i < schedule.Length; i++)
        {
            schedule[i] = BinaryPrimitives.ReadInt64LittleEndian(file.AsSpan(8 * i));
        }
        return schedule;
    }
}
