# frozen_string_literal: true

require "socket"

require "load"
require "run"
require "wire"

# Shared by the client programs in Ruby: everything in contract/clients.md except the calls. A library has `name`, `version`,
# `decode(shape, data)`, `connect(target)` and `outcome(error)`. A connection has `wait_until_open`, `call(request)` and `close`, and
# carries several calls at a time.
class Driver
  CHECKS = "text: the whole string; others: the field with the nonce, and on every 16th call the whole message"

  # Executes rpcbench's commands until it closes the socket or sends SIGTERM.
  def self.run(library)
    path = ENV["RPCBENCH_SOCKET"] || abort("#{library.name}: RPCBENCH_SOCKET is not set; rpcbench starts this program")
    # As the first process of a container, this would ignore SIGTERM without a handler.
    trap("TERM") { exit!(0) }
    Thread.abort_on_exception = true
    new(library, Wire.new(UNIXSocket.new(path))).serve
  end

  def initialize(library, wire)
    @library = library
    @wire = wire
  end

  def serve
    @wire.send_message("hello", version: 1, language: "Ruby", library: @library.name, library_version: @library.version,
                                runtime: "#{RUBY_ENGINE} #{RUBY_VERSION}", checks: CHECKS, clock_ns: now)
    while (message = @wire.read)
      type = message["type"]
      @wire.send_message("ack", of: type, received_ns: now) if %w[start stop].include?(type)
      begin
        obey(type, message)
      rescue StandardError => e
        @wire.send_message("failed", error: "#{type}: #{e.message}")
      end
    end
    exit!(0)
  end

  private

  def obey(type, message)
    raise "a load is running; stop it first" if @run && type != "stop"

    case type
    when "open" then open(message)
    when "start" then start(message)
    when "stop" then @run&.stop(message["at_ns"])
    when "close" then close
    else raise "unknown type; expected open, start, stop or close"
    end
  end

  def open(message)
    raise "connections are open; close them first" if @load

    load = Load.new(@library, message)
    begin
      connections = load.open
    rescue StandardError
      load.close
      raise
    end
    @load = load
    @wire.send_message("opened", connections: connections)
  end

  def start(message)
    raise "no connections are open; send 'open' first" unless @load

    run = @run = Run.new(@load, message, @wire)
    Thread.new do
      calls = @wire.flushing { run.make }
      @run = nil
      @wire.send_message("stopped", calls: calls)
    end
  end

  def close
    @load&.close
    @load = nil
  end
end
