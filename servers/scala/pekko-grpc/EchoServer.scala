// The contract's gRPC service on pekko-grpc. The launcher has checked the settings in the environment.
package dev.rpcbench.pekko

import dev.rpcbench.v1.*
import java.nio.file.{Files, Path}
import java.security.cert.CertificateFactory
import java.security.spec.PKCS8EncodedKeySpec
import java.security.{KeyFactory, KeyStore}
import java.util.Base64
import javax.net.ssl.{KeyManagerFactory, SSLContext}
import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.http.scaladsl.{ConnectionContext, Http, HttpsConnectionContext}
import scala.concurrent.{ExecutionContext, Future}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.{Failure, Success, Using}

/** How long open connections may take to finish their calls after SIGTERM. */
private val Drain = 2.seconds

private object EchoService extends Echo:
  def text(in: TextRequest): Future[TextReply] = Future.successful(TextReply(in.text))
  def record(in: RecordRequest): Future[RecordReply] = Future.successful(RecordReply(in.record))
  def dto(in: DtoRequest): Future[DtoReply] = Future.successful(DtoReply(in.dto))
  def tree(in: TreeRequest): Future[TreeReply] = Future.successful(TreeReply(in.tree))

/** TLS by the JDK, with a certificate and its key, both in PEM. */
private def tls(certificate: Path, key: Path): HttpsConnectionContext =
  val chain = Using.resource(Files.newInputStream(certificate))(CertificateFactory.getInstance("X.509").generateCertificates(_))
  val encoded = Base64.getMimeDecoder.decode(Files.readString(key).replaceAll("-----[A-Z ]+-----", ""))
  val store = KeyStore.getInstance(KeyStore.getDefaultType)
  store.load(null, Array.emptyCharArray)
  val privateKey = KeyFactory.getInstance("EC").generatePrivate(PKCS8EncodedKeySpec(encoded))
  store.setKeyEntry("server", privateKey, Array.emptyCharArray, chain.asScala.toArray)
  val keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
  keys.init(store, Array.emptyCharArray)
  val context = SSLContext.getInstance("TLS")
  context.init(keys.getKeyManagers, null, null)
  ConnectionContext.httpsServer(context)

@main def serve(): Unit =
  given system: ActorSystem = ActorSystem("echo")
  given ExecutionContext = system.dispatcher
  val builder = Http().newServerAt(sys.env("RPCBENCH_HOST"), sys.env("RPCBENCH_PORT").toInt)
  sys.env
    .get("RPCBENCH_TLS_CERT")
    .fold(builder)(certificate => builder.enableHttps(tls(Path.of(certificate), Path.of(sys.env("RPCBENCH_TLS_KEY")))))
    .bind(EchoHandler(EchoService))
    .onComplete {
      case Success(binding) => binding.addToCoordinatedShutdown(Drain)
      case Failure(error) =>
        System.err.println(s"scala-pekko-grpc: $error")
        sys.exit(1)
    }
