using System.Text.Json.Nodes;

namespace Rpcbench;

/// <summary>Makes calls from `start` to `stop`.</summary>
internal sealed class Run<TClient>
{
    private const int FlushMillis = 5;
    // How long to poll the clock before the start, in nanoseconds.
    private const long Spin = 2_000_000;
    // Maximum sleep in nanoseconds, after which stopAt is read again.
    private const long MaxSleep = 50_000_000;

    private readonly Wire wire;
    private readonly Slot<TClient>[] slots;
    private readonly long at;
    private readonly long limit;
    // Due times relative to the start; null in a closed loop.
    private readonly long[]? schedule;
    private readonly int inFlightMax;
    private long stopAt = long.MaxValue;
    private long claimed;

    public Run(Load<TClient> load, JsonNode message, Wire wire)
    {
        this.wire = wire;
        var instant = (long)message["at_ns"]!;
        at = instant == 0 ? Clock.Now() : instant;
        var calls = (long?)message["calls"] ?? 0;
        limit = calls == 0 ? long.MaxValue : calls;
        slots = load.Slots;
        if ((string?)message["schedule"] is not { } path)
        {
            return;
        }
        inFlightMax = (int)message["in_flight_max"]!;
        if (inFlightMax < 1)
        {
            throw new InvalidDataException("in_flight_max must be 1 or more");
        }
        var due = Load<TClient>.ReadSchedule(path);
        schedule = due[..(int)Math.Min(due.Length, limit)];
        // If a connection carries one call at a time, it has one slot; calls without an idle one wait, and count as in flight.
        var connections = load.Library.Sharing == Sharing.Multiplexed ? inFlightMax : load.Target.Connections;
        slots = load.NewSlots(Math.Min(inFlightMax, connections));
    }

    public void Stop(long instant) => Volatile.Write(ref stopAt, instant);

    private bool IsBeforeStop(long instant) => instant < Volatile.Read(ref stopAt);

    /// <summary>Makes the calls, and returns their number when the last one has ended.</summary>
    public long Make()
    {
        using var flusher = new Timer(_ => wire.Flush(), null, FlushMillis, FlushMillis);
        Clock.SleepUntil(at - Spin);
        while (Clock.Now() < at)
        {
            Thread.SpinWait(1);
        }
        return schedule is null ? ClosedLoop() : new OpenLoop(this, schedule).Make();
    }

    private long ClosedLoop()
    {
        var loops = Array.ConvertAll(slots, Repeat);
        return Task.WhenAll(loops).GetAwaiter().GetResult().Sum();
    }

    // Makes the calls of a slot, one after another.
    private async Task<long> Repeat(Slot<TClient> slot)
    {
        for (long calls = 0; ; calls++)
        {
            var start = Clock.Now();
            if (!IsBeforeStop(start) || (limit != long.MaxValue && Interlocked.Increment(ref claimed) > limit))
            {
                return calls;
            }
            var outcome = await slot.Call().ConfigureAwait(false);
            wire.Record(start, Clock.Now(), slot.Number, outcome);
            if (outcome != Outcome.Ok)
            {
                // Otherwise calls that fail at once would never release their thread.
                await Task.Yield();
            }
        }
    }

    private sealed class OpenLoop(Run<TClient> run, long[] schedule)
    {
        private readonly Lock guard = new();
        private readonly Stack<Slot<TClient>> idle = new(run.slots);
        // Calls that found no idle slot.
        private readonly Queue<int> waiting = new();
        private readonly TaskCompletionSource ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
        // Calls that have not ended, plus one for the dispatcher.
        private int pending = 1;
        private int inFlight;

        private long Due(int index) => run.at + schedule[index];

        public long Make()
        {
            var calls = 0;
            while (calls < schedule.Length && SleepUntil(Due(calls)))
            {
                Begin(calls++);
            }
            End();
            ended.Task.Wait();
            return calls;
        }

        private void End()
        {
            if (Interlocked.Decrement(ref pending) == 0)
            {
                ended.SetResult();
            }
        }

        // Waits for a due time. Returns false if the run stops before it.
        private bool SleepUntil(long due)
        {
            while (run.IsBeforeStop(due))
            {
                var now = Clock.Now();
                if (due <= now)
                {
                    return true;
                }
                Clock.SleepUntil(Math.Min(due, now + MaxSleep));
            }
            return false;
        }

        private void Begin(int index)
        {
            Slot<TClient>? slot;
            lock (guard)
            {
                if (inFlight == run.inFlightMax)
                {
                    run.wire.Record(Due(index), Clock.Now(), (uint)index, Outcome.NotSent);
                    return;
                }
                inFlight++;
                Interlocked.Increment(ref pending);
                if (!idle.TryPop(out slot))
                {
                    waiting.Enqueue(index);
                    return;
                }
            }
            ThreadPool.QueueUserWorkItem(_ => _ = Repeat(slot, index));
        }

        // Makes a call, then waiting calls.
        private async Task Repeat(Slot<TClient> slot, int index)
        {
            for (var hasNext = true; hasNext;)
            {
                var outcome = await slot.Call().ConfigureAwait(false);
                run.wire.Record(Due(index), Clock.Now(), (uint)index, outcome);
                lock (guard)
                {
                    inFlight--;
                    hasNext = waiting.TryDequeue(out index);
                    if (!hasNext)
                    {
                        idle.Push(slot);
                    }
                }
                End();
            }
        }
    }
}
