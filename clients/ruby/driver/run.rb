# frozen_string_literal: true

require "outcome"

# CLOCK_MONOTONIC in nanoseconds.
def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

# Makes calls from `start` to `stop`, with a thread per slot.
class Run
  # How long to poll the clock before the start.
  SPIN_NS = 3_000_000
  # Maximum sleep, after which the instant to stop at is read again.
  MAX_SLEEP_SECONDS = 0.1

  def initialize(load, message, wire)
    @wire = wire
    @at = message["at_ns"]
    @stop_at = Float::INFINITY
    @lock = Mutex.new
    @limit = message["calls"].to_i.zero? ? Float::INFINITY : message["calls"]
    @calls = 0
    @slots = load.slots
    prepare_open_loop(load, message) if message.key?("schedule")
  end

  # Starts no call from this instant on.
  def stop(instant) = @stop_at = instant

  # Makes the calls, and returns their number when the last one has ended.
  def make
    gate = Queue.new
    workers = @slots.map do |slot|
      Thread.new do
        gate.pop
        @schedule ? serve(slot) : repeat(slot)
      end
    end
    sleep_until_start
    gate.close
    dispatch if @schedule
    workers.each(&:join)
    @calls
  end

  private

  def prepare_open_loop(load, message)
    in_flight_max = message["in_flight_max"]
    raise ArgumentError, "in_flight_max must be 1 or more" if in_flight_max < 1

    schedule = File.binread(message["schedule"]).unpack("Q<*")
    @schedule = schedule.first([@limit, schedule.size].min)
    @slots = load.new_slots(in_flight_max)
    @inboxes = @slots.map { Queue.new }
    @idle = @inboxes.dup
  end

  def sleep_until_start
    @at = now if @at.zero?
    sleep([(@at - SPIN_NS - now) / 1e9, 0].max)
    nil while now < @at
  end

  # Makes the calls of a slot, one after another.
  def repeat(slot)
    while (start = now) < @stop_at && claim?
      outcome, status = slot.call
      @wire.record(start, now, slot.number, outcome, status)
    end
  end

  # Takes one of a limited number of calls.
  def claim?
    @lock.synchronize { @calls < @limit && @calls += 1 }
  end

  # Starts each call when it is due, on the slot that became idle last, so that a low rate uses few slots and connections.
  def dispatch
    @schedule.each_with_index do |offset, index|
      due = @at + offset
      break unless sleep_until?(due)

      @calls += 1
      inbox = @lock.synchronize { @idle.pop }
      if inbox
        inbox << [index, due]
      else
        @wire.record(due, now, index, NOT_SENT, 0)
      end
    end
    @inboxes.each(&:close)
  end

  # Makes the calls of a slot that are due.
  def serve(slot)
    inbox = @inboxes[slot.number]
    while (index, due = inbox.pop)
      outcome, status = slot.call
      @wire.record(due, now, index, outcome, status)
      @lock.synchronize { @idle << inbox }
    end
  end

  # Waits for a due time. Returns false if the run stops before it.
  def sleep_until?(due)
    while due < @stop_at
      rest = (due - now) / 1e9
      return true if rest <= 0

      sleep([rest, MAX_SLEEP_SECONDS].min)
    end
    false
  end
end
