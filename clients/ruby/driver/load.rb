# frozen_string_literal: true

require "outcome"
require "request"

# Where and how to open connections. `timeout` of a call, in seconds.
Target = Struct.new(:address, :shape, :timeout, keyword_init: true)

# A connection, which opens another line after a number of calls.
class Connection
  Line = Struct.new(:client, :calls, :in_flight)

  def initialize(library, target, limit)
    @library = library
    @target = target
    @limit = limit
    @lock = Mutex.new
  end

  def open
    @line = Line.new(@library.connect(@target), 0, 0)
    @line.client
  end

  # Returns the line for the next call, and opens one if needed.
  def take
    @lock.synchronize do
      open unless @line
      line = @line
      line.calls += 1
      line.in_flight += 1
      @line = nil if line.calls == @limit
      line
    end
  end

  # Ends a call. A line that gets no more calls is closed after its last one.
  def give(line)
    is_last = @lock.synchronize { (line.in_flight -= 1).zero? && !line.equal?(@line) }
    line.client.close if is_last
  end

  def close
    @line&.client&.close
    @line = nil
  end
end

# Makes calls one at a time, with its requests in turn.
class Slot
  attr_reader :number

  def initialize(number, connection, requests, library)
    @number = number
    @connection = connection
    @requests = requests
    @next = 0
    @library = library
  end

  # Makes a call. Returns its outcome and the protocol's status.
  def call
    request = @requests[@next]
    @next = (@next + 1) % @requests.size
    request.patch
    line = @connection.take
    begin
      reply = line.client.call(request.message)
      [request.answered_by?(reply) ? OK : WRONG_ANSWER, 0]
    rescue StandardError => e
      @library.outcome(e)
    ensure
      @connection.give(line)
    end
  end
end

# The connections and encoded requests between `open` and `close`.
class Load
  attr_reader :slots

  def initialize(library, message)
    connections, in_flight, timeout_ns = message.values_at("connections", "in_flight", "timeout_ns")
    if [connections, in_flight, timeout_ns].min < 1
      raise ArgumentError, "connections, in_flight and timeout_ns must be 1 or more"
    end

    @library = library
    @target = Target.new(address: message["target"], shape: message["shape"], timeout: timeout_ns / 1e9)
    @requests = Load.read_requests(message["requests"])
    @connections = Array.new(connections) { Connection.new(library, @target, message["calls_per_connection"]) }
    @slots = new_slots(connections * in_flight)
  end

  # Divides the requests among slots. With fewer requests than slots, several slots decode the same one.
  def new_slots(number)
    shape = @target.shape
    Array.new(number) do |slot|
      own = (slot % @requests.size...@requests.size).step(number).map { |index| @requests[index] }
      requests = own.map { |data| Request.new(shape, @library.decode(shape, data)) }
      Slot.new(slot, @connections[slot % @connections.size], requests, @library)
    end
  end

  # Returns the number of connections.
  def open
    @connections.map(&:open).each(&:wait_until_open)
    @connections.size
  end

  def close = @connections.each(&:close)

  # Reads a file of requests, each preceded by its length.
  def self.read_requests(path)
    data = File.binread(path)
    requests = []
    at = 0
    while at < data.bytesize
      length = data.byteslice(at, 4).unpack1("L<")
      finish = length ? at + 4 + length : Float::INFINITY
      raise ArgumentError, "#{path}: request #{requests.size} is cut short" if finish > data.bytesize

      requests << data.byteslice(at + 4, length)
      at = finish
    end
    raise ArgumentError, "#{path}: no requests" if requests.empty?

    requests
  end
end
