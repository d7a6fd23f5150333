# frozen_string_literal: true

# The contract's gRPC service on the gem grpc. The launcher has checked the settings in the environment.
$LOAD_PATH.unshift(__dir__)
require "workers"

# Maximum of calls in flight: the library refuses a call if no thread is idle. The default is 30.
THREADS = 2000

# How long calls in flight may take after SIGTERM.
DRAIN_SECONDS = 2

# Loaded only in the process that serves, since the library must not be forked.
def service
  require "grpc"
  require "echo_services_pb"
  Class.new(Rpcbench::V1::Echo::Service) do
    def text(request, _call) = Rpcbench::V1::TextReply.new(echo: request.text)

    def record(request, _call) = Rpcbench::V1::RecordReply.new(echo: request.record)

    def dto(request, _call) = Rpcbench::V1::DtoReply.new(echo: request.dto)

    def tree(request, _call) = Rpcbench::V1::TreeReply.new(echo: request.tree)
  end
end

# TLS if RPCBENCH_TLS_CERT is set. Clients need no certificate.
def credentials
  certificate, key = ENV.values_at("RPCBENCH_TLS_CERT", "RPCBENCH_TLS_KEY")
  return :this_port_is_insecure unless certificate

  GRPC::Core::ServerCredentials.new(nil, [{ private_key: File.read(key), cert_chain: File.read(certificate) }], false)
end

Workers.serve("ruby-grpc") do |shared|
  echo = service
  server = GRPC::RpcServer.new(
    pool_size: THREADS,
    pool_keep_alive: DRAIN_SECONDS,
    # By default, calls that wait in a frozen server are cancelled after 30 s. The contract allows freezes of minutes.
    server_args: { "grpc.so_reuseport" => shared ? 1 : 0, "grpc.server_max_unrequested_time_in_server" => 3600 }
  )
  server.add_http2_port("#{ENV.fetch("RPCBENCH_HOST")}:#{ENV.fetch("RPCBENCH_PORT")}", credentials)
  server.handle(echo)
  server.run_till_terminated_or_interrupted(["TERM"])
end
