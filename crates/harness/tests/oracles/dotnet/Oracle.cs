using System.Diagnostics;

namespace Rpcbench;

/// <summary>Allocates and collects a known number of times, and prints the window and the runtime's own counts.</summary>
internal static class Oracle
{
    private static object? kept;

    private static void Main()
    {
        RuntimeLog.StartIfRequested();
        AwaitReadings();
        var before = Counts();
        var start = Stopwatch.GetTimestamp();
        AwaitReadings(); // At its edges nothing is allocated.
        for (var i = 0; i < 20_000; i++)
        {
            kept = new byte[10_000];
        }
        foreach (var generation in (int[])[0, 0, 0, 1, 1, 2])
        {
            GC.Collect(generation, GCCollectionMode.Forced, blocking: true);
        }
        // The sum of pauses grows a moment after a collection.
        AwaitReadings();
        var end = Stopwatch.GetTimestamp();
        var after = Counts();
        Console.WriteLine($"window {start} {end}");
        for (var generation = 0; generation < after.Length; generation++)
        {
            Console.WriteLine($"gen{generation} {after[generation] - before[generation]}");
        }
        Console.WriteLine($"allocated {20_000 * 10_000}");
        AwaitReadings();
    }

    private static int[] Counts()
    {
        int[] atLeast = [GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2), 0];
        return [.. Enumerable.Range(0, 3).Select(generation => atLeast[generation] - atLeast[generation + 1])];
    }

    private static void AwaitReadings()
    {
        var log = new FileInfo(Environment.GetEnvironmentVariable("RPCBENCH_RUNTIME_LOG")!);
        for (var i = 0; i < 2; i++)
        {
            log.Refresh();
            for (var size = log.Length; log.Length == size; log.Refresh())
            {
                Thread.Sleep(1);
            }
        }
    }
}
