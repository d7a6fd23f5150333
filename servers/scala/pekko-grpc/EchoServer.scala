// The contract's gRPC service on pekko-grpc. The launcher has checked the settings in the environment.
package dev.rpcbench.pekko

import dev.rpcbench.v1.*
import java.io.File
import java.security.KeyStore
import javax.net.ssl.{KeyManagerFactory, SSLContext}
import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.http.scaladsl.{ConnectionContext, Http, HttpsConnectionContext}
import scala.concurrent.{ExecutionContext, Future}
import scala.concurrent.duration.*
import scala.util.{Failure, Success}

/** How long calls in flight may take after SIGTERM. */
private val DrainTimeout = 2.seconds

/** Password of the certificate's file, from the contract. */
private val Password = "rpcbench".toCharArray

private object EchoService extends Echo:
  def text(in: TextRequest): Future[TextReply] = Future.successful(TextReply(in.text))
  def record(in: RecordRequest): Future[RecordReply] = Future.successful(RecordReply(in.record))
  def dto(in: DtoRequest): Future[DtoReply] = Future.successful(DtoReply(in.dto))
  def tree(in: TreeRequest): Future[TreeReply] = Future.successful(TreeReply(in.tree))

/** TLS by the JDK. */
private def tls(certificate: String): HttpsConnectionContext =
  val keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
  keys.init(KeyStore.getInstance(File(certificate), Password), Password)
  val context = SSLContext.getInstance("TLS")
  context.init(keys.getKeyManagers, null, null)
  ConnectionContext.httpsServer(context)

@main def serve(): Unit =
  given system: ActorSystem = ActorSystem("echo")
  given ExecutionContext = system.dispatcher
  val builder = Http().newServerAt(sys.env("RPCBENCH_HOST"), sys.env("RPCBENCH_PORT").toInt)
  sys.env
    .get("RPCBENCH_TLS_PKCS12")
    .fold(builder)(certificate => builder.enableHttps(tls(certificate)))
    .bind(EchoHandler(EchoService))
    .onComplete {
      case Success(binding) => binding.addToCoordinatedShutdown(DrainTimeout)
      case Failure(error) =>
        System.err.println(s"scala-pekko-grpc: $error")
        sys.exit(1)
    }
