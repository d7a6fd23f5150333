# frozen_string_literal: true

# A request of a generated class, which gets a nonce before each call.
class Request
  NONCE_DIGITS = 8
  # Whole messages are compared on every 16th call.
  WHOLE_EVERY = 16
  # The field with the nonce, in the content of a request; `text` is a field of the request itself.
  FIELDS = { "text" => "text", "record" => "field1", "dto" => "prop1", "tree" => "name" }.freeze

  @nonces = 0
  @lock = Mutex.new

  def self.next_nonce = @lock.synchronize { @nonces += 1 }

  attr_reader :message

  def initialize(shape, message)
    @message = message
    @field = FIELDS.fetch(shape)
    @content = shape == "text" ? message : message[shape]
    text = @content[@field]
    # A short field gets the last digits that fit.
    @skipped = [NONCE_DIGITS - text.length, 0].max
    @tail = text[NONCE_DIGITS..] || ""
  end

  def patch
    nonce = Request.next_nonce
    @whole = (nonce % WHOLE_EVERY).zero?
    @text = (nonce % 10**NONCE_DIGITS).to_s.rjust(NONCE_DIGITS, "0")[@skipped..] + @tail
    @content[@field] = @text
  end

  def answered_by?(reply)
    echo = reply.echo
    return echo == @text if @content.equal?(@message)

    !echo.nil? && echo[@field] == @text && (!@whole || echo == @content)
  end
end
