# frozen_string_literal: true

# Settings of Puma. The launcher has checked those in the environment.
require_relative "workers"

Workers.refuse_port_in_use("ruby-sinatra")
host, port, cpus = ENV.values_at("RPCBENCH_HOST", "RPCBENCH_PORT", "RPCBENCH_CPUS")

bind "tcp://#{host}:#{port}"
environment "production"
# A process for each CPU: this very process for one, forked workers for more. The application is loaded before they are forked.
workers cpus.to_i > 1 ? cpus.to_i : 0
preload_app! if cpus.to_i > 1
threads 5, 5
# The client decides how long connections live: longer than any pause between calls, in seconds.
persistent_timeout 3600
# A worker that was frozen between two trials must not look as if it hung.
worker_timeout 86_400 if cpus.to_i > 1
# How long open calls may take to finish after SIGTERM, in seconds.
force_shutdown_after 2
raise_exception_on_sigterm false
