# frozen_string_literal: true

require "socket"

# One server process per CPU, since the interpreter lock limits a process to one: this process itself for one CPU, otherwise forked
# workers that share the port (SO_REUSEPORT).
module Workers
  module_function

  # Runs the block, which listens and serves until SIGTERM, in one process per CPU. The block's argument is true if the port is shared.
  # `name` is the prefix of messages on stderr.
  def serve(name, &listen)
    # Otherwise workers could share the port with another program that shares it.
    TCPServer.new(ENV.fetch("RPCBENCH_HOST"), ENV.fetch("RPCBENCH_PORT")).close
    cpus = Integer(ENV.fetch("RPCBENCH_CPUS"))
    return work(name, false, listen) if cpus == 1

    supervise(name, Array.new(cpus) { fork { work(name, true, listen) } })
  rescue SystemCallError => e
    abort "#{name}: #{e.message}"
  end

  # Ends the server if it loses a worker, since it would no longer use all its CPUs.
  def supervise(name, workers)
    stopping = false
    trap("TERM") do
      stopping = true
      workers.each { |pid| Process.kill("TERM", pid) }
    end
    ended = Process.wait
    status = $?
    (workers - [ended]).each { |pid| Process.kill("TERM", pid) } unless stopping
    Process.waitall
    abort "#{name}: a worker process ended: #{status}" unless stopping
  end

  def work(name, shared, listen)
    listen.call(shared)
  rescue StandardError => e
    abort "#{name}: #{e.message}"
  end
end
