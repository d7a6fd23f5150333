# frozen_string_literal: true

# The contract's service on Thrift. The launcher has checked the settings in the environment.
$LOAD_PATH.unshift(__dir__)
require "socket"
require "thrift"
require "echo"
require "tls"
require "workers"

module EchoHandler
  module_function

  def Text(request) = TextReply.new(echo: request.text)

  def Record(request) = RecordReply.new(echo: request.record)

  def Dto(request) = DtoReply.new(echo: request.dto)

  def Tree(request) = TreeReply.new(echo: request.tree)
end

# The library's socket can't share its port, and leaves TCP_NODELAY to its users.
class Listener < Thrift::ServerSocket
  def initialize(address, shared)
    super(address.ip_address, address.ip_port)
    @address = address
    @shared = shared
    @tls = Tls.context
  end

  def listen
    @handle = Socket.new(@address.afamily, Socket::SOCK_STREAM)
    @handle.setsockopt(:SOCKET, :REUSEADDR, true)
    @handle.setsockopt(:SOCKET, :REUSEPORT, @shared)
    @handle.bind(@address)
    @handle.listen(Socket::SOMAXCONN)
  end

  def accept
    socket, = @handle.accept
    socket.setsockopt(:TCP, :NODELAY, true)
    transport = @tls ? SecureSocket.new : Thrift::Socket.new
    transport.handle = @tls ? OpenSSL::SSL::SSLSocket.new(socket, @tls) : socket
    transport
  end
end

# The library makes the handshake in accept, while all other connections wait. Here each connection's thread makes it.
class SecureSocket < Thrift::Socket
  def read(size)
    @accepted ||= handle.accept
    super
  end

  def close
    handle&.sync_close = true
    super
  end
end

Workers.serve("ruby-thrift") do |shared|
  # A malformed message ends its connection's thread; not worth a backtrace each.
  Thread.report_on_exception = false
  trap("TERM") { exit }
  Thrift::ThreadedServer.new(
    Echo::Processor.new(EchoHandler),
    Listener.new(Addrinfo.tcp(ENV.fetch("RPCBENCH_HOST"), ENV.fetch("RPCBENCH_PORT")), shared),
    Thrift::FramedTransportFactory.new,
    Thrift::BinaryProtocolAcceleratedFactory.new
  ).serve
end
