# frozen_string_literal: true

# The contract's service as JSON on Sinatra. puma.rb configures it.
require "json"
require "sinatra/base"
require_relative "messages"

class Echo < Sinatra::Base
  include Messages

  # Errors are answered, not shown as pages; nothing is logged.
  set :environment, :production
  set :logging, false
  set :dump_errors, false

  helpers do
    def read(type) = type.decode.call(JSON.parse(request.body.read.force_encoding(Encoding::UTF_8)))

    def reply(type, echo)
      content_type :json
      JSON.generate(type.encode.call(type.struct.new(echo: echo)))
    end
  end

  post("/rpcbench.v1.Echo/Text") { reply(TEXT_REPLY, read(TEXT_REQUEST).text) }
  post("/rpcbench.v1.Echo/Record") { reply(RECORD_REPLY, read(RECORD_REQUEST).record) }
  post("/rpcbench.v1.Echo/Dto") { reply(DTO_REPLY, read(DTO_REQUEST).dto) }
  post("/rpcbench.v1.Echo/Tree") { reply(TREE_REPLY, read(TREE_REQUEST).tree) }

  error(JSON::ParserError, Messages::Invalid) { |problem| refuse(problem) }

  def refuse(problem)
    content_type :json
    halt 400, JSON.generate("error" => problem.message.scrub)
  end
end
