# frozen_string_literal: true

# Settings of Puma, behind nginx as its deployment guide recommends. The launcher has checked the settings in the environment.
cpus = Integer(ENV.fetch("RPCBENCH_CPUS"))

# As long as the kernel allows: nginx refuses a call if the queue is full.
bind "unix://#{ENV.fetch("BACKEND_SOCKET")}?backlog=65535"
environment "production"
# One process per CPU: this process itself for one, forked workers for more. The application is loaded before forking.
workers cpus > 1 ? cpus : 0
preload_app! if cpus > 1
threads 5, 5
# A worker frozen between two trials must not look hung.
worker_timeout 86_400 if cpus > 1
# How long calls in flight may take after SIGTERM, in seconds.
force_shutdown_after 2
raise_exception_on_sigterm false
