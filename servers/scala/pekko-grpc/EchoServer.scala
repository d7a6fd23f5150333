// The contract's gRPC service on pekko-grpc. The launcher has checked the settings in the environment.
package dev.rpcbench.pekko

import dev.rpcbench.v1.*
import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.http.scaladsl.Http
import scala.concurrent.{ExecutionContext, Future}
import scala.concurrent.duration.*
import scala.util.{Failure, Success}

/** How long open connections may take to finish their calls after SIGTERM. */
private val Drain = 2.seconds

private object EchoService extends Echo:
  def text(in: TextRequest): Future[TextReply] = Future.successful(TextReply(in.text))
  def record(in: RecordRequest): Future[RecordReply] = Future.successful(RecordReply(in.record))
  def dto(in: DtoRequest): Future[DtoReply] = Future.successful(DtoReply(in.dto))
  def tree(in: TreeRequest): Future[TreeReply] = Future.successful(TreeReply(in.tree))

@main def serve(): Unit =
  given system: ActorSystem = ActorSystem("echo")
  given ExecutionContext = system.dispatcher
  Http()
    .newServerAt(sys.env("RPCBENCH_HOST"), sys.env("RPCBENCH_PORT").toInt)
    .bind(EchoHandler(EchoService))
    .onComplete {
      case Success(binding) => binding.addToCoordinatedShutdown(Drain)
      case Failure(error) =>
        System.err.println(s"scala-pekko-grpc: $error")
        sys.exit(1)
    }
