# frozen_string_literal: true

require "socket"

# One server process for each CPU, as one interpreter lock is one CPU: this very process when there is one CPU, otherwise forked
# workers that share the port (SO_REUSEPORT).
module Workers
  module_function

  # Runs the block, which listens and answers until SIGTERM, in as many processes as there are CPUs. It is told whether the port is
  # shared. `name` begins messages on stderr.
  def serve(name, &listen)
    # Workers would share the port even with a stranger that shares it too.
    TCPServer.new(ENV.fetch("RPCBENCH_HOST"), ENV.fetch("RPCBENCH_PORT")).close
    cpus = Integer(ENV.fetch("RPCBENCH_CPUS"))
    return work(name, false, listen) if cpus == 1

    supervise(name, Array.new(cpus) { fork { work(name, true, listen) } })
  rescue SystemCallError => e
    abort "#{name}: #{e.message}"
  end

  # Without one of its workers the server would no longer be what was asked for, so it ends.
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
