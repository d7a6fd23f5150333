# frozen_string_literal: true

# Calls the contract's service with the gem grpc.
$LOAD_PATH.unshift(__dir__)
require "grpc"

require "driver"
require "echo_services_pb"

# A channel has one connection.
class Channel
  OPEN_SECONDS = 10
  # The library's defaults, without retries, and with a connection per channel: by default, channels to the same target share one.
  OPTIONS = { "grpc.enable_retries" => 0, "grpc.use_local_subchannel_pool" => 1 }.freeze

  def initialize(target)
    @channel = GRPC::Core::Channel.new(target.address, OPTIONS, :this_channel_is_insecure)
    stub = Rpcbench::V1::Echo::Stub.new(nil, nil, channel_override: @channel, timeout: target.timeout)
    @method = stub.method(target.shape)
  end

  def wait_until_open
    deadline = Time.now + OPEN_SECONDS
    while (state = @channel.connectivity_state(true)) != GRPC::Core::ConnectivityStates::READY
      is_in_time = @channel.watch_connectivity_state(state, deadline)
      if !is_in_time || state == GRPC::Core::ConnectivityStates::TRANSIENT_FAILURE
        raise "no connection within #{OPEN_SECONDS} s, or it was refused"
      end
    end
  end

  def call(request) = @method.call(request)

  def close = @channel.close
end

# Describes the library to the driver.
module Library
  REQUESTS = {
    "text" => Rpcbench::V1::TextRequest,
    "record" => Rpcbench::V1::RecordRequest,
    "dto" => Rpcbench::V1::DtoRequest,
    "tree" => Rpcbench::V1::TreeRequest
  }.freeze

  module_function

  def name = "grpc"

  def version = GRPC::VERSION

  def connect(target) = Channel.new(target)

  def decode(shape, data)
    REQUESTS.fetch(shape) { raise "unknown shape '#{shape}'" }.decode(data)
  end

  # The library's statuses look like a server's. UNAVAILABLE may be either's.
  def outcome(error)
    # Raised by the decoder.
    return [WRONG_ANSWER, 0] unless error.is_a?(GRPC::BadStatus)

    case error.code
    when GRPC::Core::StatusCodes::DEADLINE_EXCEEDED then [TIMEOUT, 0]
    when GRPC::Core::StatusCodes::UNAVAILABLE then [TRANSPORT, 0]
    else error.details.start_with?("Stream removed") ? [TRANSPORT, 0] : [STATUS, error.code]
    end
  end
end

Driver.run(Library)
