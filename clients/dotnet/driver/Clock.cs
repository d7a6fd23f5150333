using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Rpcbench;

/// <summary>CLOCK_MONOTONIC in nanoseconds.</summary>
internal static partial class Clock
{
    private const int ClockMonotonic = 1;
    private const int AbsoluteTime = 1;
    private const long Second = 1_000_000_000;

    public static long Now() => Stopwatch.GetTimestamp();

    /// <summary>Sleeps until an instant; the runtime sleeps whole milliseconds only.</summary>
    public static void SleepUntil(long instant)
    {
        var time = new Timespec { Seconds = instant / Second, Nanoseconds = instant % Second };
        while (instant > Now())
        {
            _ = Sleep(ClockMonotonic, AbsoluteTime, in time, IntPtr.Zero);
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct Timespec
    {
        public long Seconds;
        public long Nanoseconds;
    }

    [LibraryImport("libc", EntryPoint = "clock_nanosleep")]
    private static partial int Sleep(int clock, int flags, in Timespec request, IntPtr remaining);
}
