# frozen_string_literal: true

require "socket"

# One server process for each CPU, as one interpreter lock is one CPU: this very process when there is one CPU, otherwise forked
# workers that share the port (SO_REUSEPORT).
module Workers
  module_function

  # Ends the process if the port is in use: workers would share it even with a stranger that shares it too, and libraries say it in
  # many lines.
  def refuse_port_in_use(name)
    TCPServer.new(ENV.fetch("RPCBENCH_HOST"), ENV.fetch("RPCBENCH_PORT")).close
  rescue SystemCallError => e
    abort "#{name}: #{e.message}"
  end

  # Runs the block, which listens and answers until SIGTERM, in as many processes as there are CPUs. It is told whether the port is
  # shared. `name` begins messages on stderr.
  def serve(name, &listen)
    refuse_port_in_use(name)
    cpus = Integer(ENV.fetch("RPCBENCH_CPUS"))
    return work(name, false, listen) if cpus == 1

    supervise(name, Array.new(cpus) { fork { work(name, true, listen) } })
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
