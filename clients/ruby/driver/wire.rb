# frozen_string_literal: true

require "json"

# Frames to and from rpcbench, written in order by any thread.
class Wire
  MESSAGE = 1
  RECORDS = 2
  HEADER = "L<L<"
  HEADER_BYTES = 8
  RECORD = "Q<Q<L<CCS<"
  RECORD_BYTES = 24
  # Payload of a full frame of records.
  RECORDS_BYTES = 4096 / RECORD_BYTES * RECORD_BYTES
  MAX_FRAME = 65_536
  FLUSH_SECONDS = 0.005

  def initialize(socket)
    @socket = socket
    @lock = Mutex.new
    @records = String.new(capacity: RECORDS_BYTES)
  end

  # Adds a call that ended.
  def record(start, done, call, outcome, status)
    bytes = [start, done, call, outcome, 0, status].pack(RECORD)
    @lock.synchronize do
      @records << bytes
      write_records if @records.bytesize >= RECORDS_BYTES
    end
  end

  # Sends the pending records every few milliseconds, until the block has ended.
  def flushing
    flusher = Thread.new do
      loop do
        sleep(FLUSH_SECONDS)
        @lock.synchronize { write_records }
      end
    end
    yield
  ensure
    @lock.synchronize { flusher.kill }
  end

  # Sends a message after the pending records.
  def send_message(type, **fields)
    @lock.synchronize do
      write_records
      write(MESSAGE, JSON.generate(type: type, **fields))
    end
  end

  # Reads the next message; nil if rpcbench has closed the socket, even within a message.
  def read
    header = @socket.read(HEADER_BYTES)
    return if header.nil? || header.bytesize < HEADER_BYTES

    length, kind = header.unpack(HEADER)
    if kind != MESSAGE || length > MAX_FRAME
      raise IOError, "a frame of kind #{kind} with #{length} bytes; expected kind #{MESSAGE} with at most #{MAX_FRAME}"
    end
    text = @socket.read(length)
    JSON.parse(text) if text && text.bytesize == length
  end

  private

  def write_records
    return if @records.empty?

    write(RECORDS, @records)
    @records.clear
  end

  def write(kind, content)
    @socket.write([content.bytesize, kind].pack(HEADER), content)
  rescue SystemCallError
    # rpcbench has closed the socket.
    exit!(0)
  end
end
