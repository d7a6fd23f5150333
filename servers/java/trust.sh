#!/bin/sh
# Makes a trust store of the certificates in a PEM file, and prints the options of a JVM that trusts them: trust.sh FILE STORE
set -eu

jdk=$(sh "$(dirname "$0")/jdk.sh")
source=$(mktemp -d)/TrustStore.java
cat >"$source" <<'END'
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;

public final class TrustStore {
  public static void main(String[] args) throws Exception {
    var store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (var file = Files.newInputStream(Path.of(args[0]))) {
      for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
        store.setCertificateEntry("certificate" + store.size(), certificate);
      }
    }
    try (var file = Files.newOutputStream(Path.of(args[1]))) {
      store.store(file, args[2].toCharArray());
    }
  }
}
END
# Not with keytool, which imports only the first certificate of a file. The format requires a password.
password=changeit
"$jdk/bin/java" "$source" "$1" "$2" "$password"
rm -r "$(dirname "$source")"
echo "-Djavax.net.ssl.trustStore=$2 -Djavax.net.ssl.trustStorePassword=$password"
