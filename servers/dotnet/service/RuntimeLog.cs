using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Rpcbench;

/// <summary>
/// Writes the contract's runtime log to the file RPCBENCH_RUNTIME_LOG. An event listener would report the same, but allocate for each of
/// the fifteen events of a collection.
/// </summary>
internal sealed class RuntimeLog : IDisposable
{
    // Interval between readings of the heap.
    private static readonly TimeSpan Reading = TimeSpan.FromMilliseconds(50);

    private readonly FileStream file;
    private readonly Lock guard = new();
    private readonly StringBuilder lines = new();

    // Already written: collections of each generation, and the sum of all pauses.
    private readonly int[] logged = new int[3];
    private TimeSpan toldPause;
    private long toldBackground;

    private RuntimeLog(string path)
    {
        file = new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite, bufferSize: 0);
        Add($"begin {Now()}");
        Flush();
    }

    /// <summary>Logs this process for as long as it lives. Does nothing without the variable.</summary>
    public static void StartIfAsked()
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
            Thread.Sleep(Reading);
        }
    }

    // While a collection runs, the runtime's figure may be below zero: then it is unknown.
    private static string Heap()
    {
        var heap = GC.GetTotalMemory(false);
        return heap < 0 ? "-" : heap.ToString(CultureInfo.InvariantCulture);
    }

    private void AwaitCollection() => _ = new Garbage(this);

    private void Collected()
    {
        lock (guard)
        {
            AddPauses();
            Flush();
        }
        AwaitCollection();
    }

    // A line per collection since the last time: usually one, whose pause is then known exactly. For several, the sum is divided
    // among them. The sum grows slightly after the count; the missing part goes to the next line.
    private void AddPauses()
    {
        var (now, pause) = (Now(), GC.GetTotalPauseDuration());
        var nanos = (pause - toldPause).Ticks * 100;
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
            if (background != toldBackground)
            {
                Add($"pause {now} {nanos} background -");
                (toldBackground, toldPause) = (background, pause);
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
        toldPause = pause;
    }

    private void Add(FormattableString words) =>
        lines.Append(CultureInfo.InvariantCulture, $"{Environment.ProcessId} ").Append(FormattableString.Invariant(words)).Append('\n');

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
    private sealed class Garbage(RuntimeLog log)
    {
        ~Garbage() => log.Collected();
    }
}
