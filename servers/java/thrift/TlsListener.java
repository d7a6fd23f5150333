import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A listening socket with TLS by the JDK, with its defaults. */
final class TlsListener {
  private TlsListener() {}

  /** Listens with a certificate and its key, both in PEM. */
  static ServerSocket open(InetSocketAddress address, int backlog, Path certificate, Path key)
      throws IOException, GeneralSecurityException {
    var password = new char[0];
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, password);
    store.setKeyEntry("server", key(key), password, chain(certificate));
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, password);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context
        .getServerSocketFactory()
        .createServerSocket(address.getPort(), backlog, address.getAddress());
  }

  private static Certificate[] chain(Path pem) throws IOException, GeneralSecurityException {
    try (var file = Files.newInputStream(pem)) {
      var certificates = CertificateFactory.getInstance("X.509").generateCertificates(file);
      return certificates.toArray(Certificate[]::new);
    }
  }

  private static PrivateKey key(Path pem) throws IOException, GeneralSecurityException {
    var content = Files.readString(pem).replaceAll("-----[A-Z ]+-----", "");
    var encoded = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(content));
    return KeyFactory.getInstance("EC").generatePrivate(encoded);
  }
}
