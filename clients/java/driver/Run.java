package dev.rpcbench.client;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Makes calls from {@code start} to {@code stop}. */
final class Run<C> {
  private static final long FLUSH_MILLIS = 5;
  // How long to poll the clock before the start.
  private static final long SPIN_NANOS = 2_000_000;

  private final Wire wire;
  private final Executor executor;
  private final List<Slot<C>> slots;
  private final long at;
  private final long limit;
  // Due times relative to the start; null in a closed loop.
  private final long[] schedule;
  private final int inFlightMax;
  private final AtomicLong claimed = new AtomicLong();
  private final LongAdder started = new LongAdder();
  // Slots (closed loop) or calls (open loop) that have not ended, plus one for the run.
  private final AtomicLong pending = new AtomicLong(1);
  private final CountDownLatch allEnded = new CountDownLatch(1);
  private final boolean blocking;
  private volatile long stopAt = Long.MAX_VALUE;
  private volatile Thread dispatcher;

  Run(Load<C> load, JsonObject message, Wire wire) throws Exception {
    this.wire = wire;
    blocking = load.library.blocking();
    executor =
        blocking ? Executors.newVirtualThreadPerTaskExecutor() : (Executor) Runnable::run;
    long instant = message.get("at_ns").getAsLong();
    at = instant == 0 ? System.nanoTime() : instant;
    long calls = message.has("calls") ? message.get("calls").getAsLong() : 0;
    limit = calls == 0 ? Long.MAX_VALUE : calls;
    if (!message.has("schedule")) {
      schedule = null;
      inFlightMax = 0;
      slots = load.slots;
      return;
    }
    inFlightMax = message.get("in_flight_max").getAsInt();
    if (inFlightMax < 1) {
      throw new IOException("in_flight_max must be 1 or more");
    }
    var due = Load.readSchedule(message.get("schedule").getAsString());
    schedule = Arrays.copyOf(due, (int) Math.min(due.length, limit));
    // A connection that carries one call at a time has one slot, which also bounds pools.
    boolean isMultiplexed = load.library.connections() == Library.Connections.MULTIPLEXED;
    int connections = isMultiplexed ? inFlightMax : load.target.connections();
    slots = load.newSlots(Math.min(inFlightMax, connections));
  }

  void stop(long instant) {
    stopAt = instant;
    LockSupport.unpark(dispatcher);
  }

  /** Makes the calls, and returns their number when the last one has ended. */
  long make() throws InterruptedException {
    Thread.ofPlatform().daemon().start(this::flush);
    dispatcher = Thread.currentThread();
    sleepUntilStart();
    if (schedule == null) {
      pending.addAndGet(slots.size());
      for (var slot : slots) {
        var closed = new ClosedSlot(slot);
        executor.execute(closed::begin);
      }
    } else {
      new OpenLoop().dispatch();
    }
    end();
    allEnded.await();
    return started.sum();
  }

  /** Ends a slot, a call or the run. */
  private void end() {
    if (pending.decrementAndGet() == 0) {
      allEnded.countDown();
    }
  }

  /** Waits for the latch, since an interrupt within a write would close the socket. */
  private void flush() {
    try {
      while (!allEnded.await(FLUSH_MILLIS, TimeUnit.MILLISECONDS)) {
        wire.flush();
      }
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private void sleepUntilStart() {
    long rest;
    while ((rest = at - System.nanoTime()) > 0) {
      if (rest > SPIN_NANOS) {
        LockSupport.parkNanos(rest - SPIN_NANOS);
      } else {
        Thread.onSpinWait();
      }
    }
  }

  private boolean claim() {
    return limit == Long.MAX_VALUE || claimed.getAndIncrement() < limit;
  }

  /** Makes the calls of a slot, one after another. */
  private final class ClosedSlot implements Consumer<Outcome> {
    private final Slot<C> slot;
    private long start;

    ClosedSlot(Slot<C> slot) {
      this.slot = slot;
    }

    void begin() {
      while (mayStart()) {
        slot.call(this);
        if (!blocking) {
          return;
        }
      }
    }

    private boolean mayStart() {
      start = System.nanoTime();
      if (start < stopAt && claim()) {
        started.increment();
        return true;
      }
      end();
      return false;
    }

    @Override
    public void accept(Outcome outcome) {
      wire.record(start, System.nanoTime(), slot.number, outcome);
      if (!blocking) {
        begin();
      }
    }
  }

  private final class OpenLoop {
    private final ArrayDeque<Slot<C>> idle = new ArrayDeque<>(slots);
    // Calls that found no idle slot.
    private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
    private int inFlight;

    /** Starts each call when it is due. */
    void dispatch() {
      for (int index = 0; index < schedule.length && sleepUntil(due(index)); index++) {
        started.increment();
        begin(index);
      }
    }

    private long due(int index) {
      return at + schedule[index];
    }

    private void begin(int index) {
      Slot<C> slot;
      synchronized (this) {
        if (inFlight == inFlightMax) {
          wire.record(due(index), System.nanoTime(), index, Outcome.NOT_SENT);
          return;
        }
        inFlight++;
        pending.incrementAndGet();
        slot = idle.poll();
        if (slot == null) {
          waiting.add(index);
          return;
        }
      }
      executor.execute(() -> call(slot, index));
    }

    private void call(Slot<C> slot, int index) {
      slot.call(outcome -> finish(slot, index, outcome));
    }

    /** Ends a call, and starts one that waits. */
    private void finish(Slot<C> slot, int index, Outcome outcome) {
      wire.record(due(index), System.nanoTime(), index, outcome);
      Integer next;
      synchronized (this) {
        inFlight--;
        next = waiting.poll();
        if (next == null) {
          idle.push(slot);
        }
      }
      if (next != null) {
        executor.execute(() -> call(slot, next));
      }
      end();
    }

    /** Waits for a due time. Returns false if the run stops before it. */
    private boolean sleepUntil(long due) {
      while (due < stopAt) {
        long rest = due - System.nanoTime();
        if (rest <= 0) {
          return true;
        }
        LockSupport.parkNanos(rest);
      }
      return false;
    }
  }
}
