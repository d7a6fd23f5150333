# frozen_string_literal: true

# Settings of Puma, which is behind nginx, as its guide to deployment has it. The launcher has checked those in the environment.
cpus = Integer(ENV.fetch("RPCBENCH_CPUS"))

# As many calls as the kernel allows may wait: nginx does not wait for a place in the queue, it refuses the call.
bind "unix://#{ENV.fetch("BACKEND_SOCKET")}?backlog=65535"
environment "production"
# A process for each CPU: this very process for one, forked workers for more. The application is loaded before they are forked.
workers cpus > 1 ? cpus : 0
preload_app! if cpus > 1
threads 5, 5
# A worker that was frozen between two trials must not look as if it hung.
worker_timeout 86_400 if cpus > 1
# How long open calls may take to finish after SIGTERM, in seconds.
force_shutdown_after 2
raise_exception_on_sigterm false
