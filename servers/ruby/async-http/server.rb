# frozen_string_literal: true

# The contract's service as JSON on async-http, whose port takes only HTTP/2. The launcher has checked the settings in the environment.
$LOAD_PATH.unshift(__dir__)
require "async"
require "async/http/endpoint"
require "async/http/server"
require "async/io/trap"
require "json"
require "messages"
require "tls"
require "workers"

class Echo
  include Messages

  # By path: types of request and reply, and the request's field that the reply returns.
  METHODS = {
    "/rpcbench.v1.Echo/Text" => [TEXT_REQUEST, TEXT_REPLY, :text],
    "/rpcbench.v1.Echo/Record" => [RECORD_REQUEST, RECORD_REPLY, :record],
    "/rpcbench.v1.Echo/Dto" => [DTO_REQUEST, DTO_REPLY, :dto],
    "/rpcbench.v1.Echo/Tree" => [TREE_REQUEST, TREE_REPLY, :tree],
  }.freeze

  def call(request)
    # Read before anything else, since a body that arrives after the reply breaks the connection.
    body = request.read.to_s.force_encoding(Encoding::UTF_8)
    request_type, reply_type, content = METHODS[request.path]
    return respond(404, "error" => "no such method") unless request_type
    return respond(405, "error" => "not a POST") unless request.method == "POST"

    message = request_type.decode.call(JSON.parse(body))
    respond(200, reply_type.encode.call(reply_type.struct.new(echo: message[content])))
  rescue JSON::ParserError, Messages::Invalid => e
    respond(400, "error" => e.message.scrub)
  end

  private

  def respond(status, content)
    Protocol::HTTP::Response[status, { "content-type" => "application/json" }, [JSON.generate(content)]]
  end
end

Workers.serve("ruby-async-http") do |shared|
  host = ENV.fetch("RPCBENCH_HOST")
  # An IPv6 address is bracketed before a port.
  host = "[#{host}]" if host.include?(":")
  tls = Tls.context(protocol: "h2")
  endpoint = Async::HTTP::Endpoint.parse(
    "#{tls ? "https" : "http"}://#{host}:#{ENV.fetch("RPCBENCH_PORT")}",
    protocol: Async::HTTP::Protocol::HTTP2,
    ssl_context: tls,
    reuse_port: shared
  )
  terminated = Async::IO::Trap.new(:TERM)
  terminated.install!
  Async do |task|
    serving = task.async { Async::HTTP::Server.new(Echo.new, endpoint).run }
    task.async(transient: true) { terminated.wait { serving.stop } }
  end
end
