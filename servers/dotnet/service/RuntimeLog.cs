using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Rpcbench;

/// <summary>
/// Writes the contract's runtime log to the file RPCBENCH_RUNTIME_LOG. An event listener could do the same, but would allocate for each
/// of the fifteen events of a collection.
/// </summary>
internal sealed class RuntimeLog : IDisposable
{
    // Time between readings of the heap.
    private static readonly TimeSpan ReadingInterval = TimeSpan.FromMilliseconds(50);

    private readonly FileStream file;
    private readonly Lock guard = new();
    private readonly StringBuilder lines = new();

    // Already logged: collections of each generation, the sum of all pauses, and the index of the last background collection.
    private readonly int[] logged = new int[3];
    private TimeSpan loggedPause;
    private long loggedBackground;

    private RuntimeLog(string path)
    {
        file = new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite, bufferSize: 0);
        Add($"begin {Now()}");
        Flush();
    }

    /// <summary>Starts the log of this process if the variable is set.</summary>
    public static void StartIfRequested()
    {
        if (Environment.GetEnvironmentVariable("RPCBENCH_RUNTIME_LOG") is { Length: > 0 } path)
        {
            var log = new RuntimeLog(path);
            log.AwaitCollection();
            new Thread(log.TakeReadings) { IsBackground = true, Name = "runtime log" }.Start();
        }
    }

    public void Dispose() => file.Dispose();

    private void TakeReadings()
    {
        while (true)
        {
            var now = Now();
            lock (guard)
            {
                AddPauses();
                Add($"reading {now} {Heap()} {GC.GetTotalAllocatedBytes(false)}");
                Flush();
            }
            Thread.Sleep(ReadingInterval);
        }
    }

    // During a collection the runtime's figure may be negative, so it is unknown.
    private static string Heap()
    {
        var heap = GC.GetTotalMemory(false);
        return heap < 0 ? "-" : heap.ToString(CultureInfo.InvariantCulture);
    }

    private void AwaitCollection() => _ = new Sentinel(this);

    private void Collected()
    {
        lock (guard)
        {
            AddPauses();
            Flush();
        }
        AwaitCollection();
    }

    // Adds a line per new collection. Usually there is one, so its pause is exact; several share the sum equally. The runtime adds to the
    // sum slightly after it counts; what is missing goes to the next line.
    private void AddPauses()
    {
        var (now, pause) = (Now(), GC.GetTotalPauseDuration());
        var nanos = (pause - loggedPause).Ticks * 100;
        int[] count = [GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2), 0];
        var collections = count[0] - logged.Sum();
        if (nanos == 0)
        {
            return;
        }
        if (collections == 0)
        {
            // A background collection stops the program once more at its end.
            var background = GC.GetGCMemoryInfo(GCKind.Background).Index;
            if (background != loggedBackground)
            {
                Add($"pause {now} {nanos} background -");
                (loggedBackground, loggedPause) = (background, pause);
            }
            return;
        }
        for (var generation = 0; generation < logged.Length; generation++)
        {
            for (; logged[generation] < count[generation] - count[generation + 1]; logged[generation]++)
            {
                Add($"pause {now} {nanos / collections} gen{generation} -");
            }
        }
        loggedPause = pause;
    }

    private void Add(FormattableString text) =>
        lines.Append(CultureInfo.InvariantCulture, $"{Environment.ProcessId} ").Append(FormattableString.Invariant(text)).Append('\n');

    private void Flush()
    {
        if (lines.Length > 0)
        {
            file.Write(Encoding.ASCII.GetBytes(lines.ToString()));
            lines.Clear();
        }
    }

    // The monotonic clock, in nanoseconds on Linux.
    private static long Now() => Stopwatch.GetTimestamp();

    // Unreachable from the start: the next collection of any generation finds it, and its finalizer runs right after.
    private sealed class Sentinel(RuntimeLog log)
    {
        ~Sentinel() => log.Collected();
    }
}
