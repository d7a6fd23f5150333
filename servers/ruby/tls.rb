# frozen_string_literal: true

require "openssl"

# TLS by the distribution's OpenSSL with its defaults. Clients need no certificate.
module Tls
  module_function

  # The context of a server whose environment names a certificate, otherwise nil. `protocol`: the one that ALPN may choose.
  def context(protocol: nil)
    certificate, key = ENV.values_at("RPCBENCH_TLS_CERT", "RPCBENCH_TLS_KEY")
    return unless certificate

    OpenSSL::SSL::SSLContext.new.tap do |context|
      context.add_certificate(OpenSSL::X509::Certificate.new(File.read(certificate)), OpenSSL::PKey.read(File.read(key)))
      context.alpn_select_cb = ->(offered) { (offered & [protocol]).first } if protocol
    end
  end
end
