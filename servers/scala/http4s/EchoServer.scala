// The contract's service as JSON on http4s. The launcher has checked the settings in the environment.
package dev.rpcbench.http4s

import cats.effect.{IO, IOApp}
import cats.effect.unsafe.IORuntimeConfig
import com.comcast.ip4s.{Host, Port}
import fs2.io.net.SocketOption
import io.circe.{Decoder, Encoder, Printer}
import org.http4s.{EntityDecoder, EntityEncoder, HttpRoutes, Request, Response}
import org.http4s.circe.{jsonEncoderWithPrinterOf, jsonOf}
import org.http4s.dsl.io.*
import org.http4s.ember.server.EmberServerBuilder
import scala.concurrent.duration.*

object EchoServer extends IOApp.Simple:
  /** The client decides how long connections live: longer than any pause between calls. */
  private val Idle = 1.hour

  /** How long open connections may take to finish their calls after SIGTERM. */
  private val Drain = 2.seconds

  private val printer = Printer.noSpaces.copy(dropNullValues = true)

  given [A: Decoder]: EntityDecoder[IO, A] = jsonOf[IO, A]
  given [A: Encoder]: EntityEncoder[IO, A] = jsonEncoderWithPrinterOf(printer)

  /** No warnings when all CPUs are busy: they are meant to be. */
  override def runtimeConfig: IORuntimeConfig =
    super.runtimeConfig.copy(cpuStarvationCheckInitialDelay = Duration.Inf)

  private def unary[Q: Decoder, R: Encoder](request: Request[IO])(answer: Q => R): IO[Response[IO]] =
    request.as[Q].flatMap(content => Ok(answer(content)))

  private val routes = HttpRoutes.of[IO] {
    case request @ POST -> Root / "rpcbench.v1.Echo" / "Text" =>
      unary[TextRequest, TextReply](request)(content => TextReply(content.text))
    case request @ POST -> Root / "rpcbench.v1.Echo" / "Record" =>
      unary[RecordRequest, RecordReply](request)(content => RecordReply(content.record))
    case request @ POST -> Root / "rpcbench.v1.Echo" / "Dto" =>
      unary[DtoRequest, DtoReply](request)(content => DtoReply(content.dto))
    case request @ POST -> Root / "rpcbench.v1.Echo" / "Tree" =>
      unary[TreeRequest, TreeReply](request)(content => TreeReply(content.tree))
  }

  private def setting[A](name: String, read: String => Option[A]): IO[A] =
    IO.fromOption(sys.env.get(name).flatMap(read))(IllegalArgumentException(s"$name is missing or wrong"))

  private def serve: IO[Nothing] =
    for
      host <- setting("RPCBENCH_HOST", Host.fromString)
      port <- setting("RPCBENCH_PORT", Port.fromString)
      never <- EmberServerBuilder
        .default[IO]
        .withHost(host)
        .withPort(port)
        .withHttpApp(routes.orNotFound)
        .withIdleTimeout(Idle)
        .withShutdownTimeout(Drain)
        .withAdditionalSocketOptions(List(SocketOption.noDelay(true)))
        .build
        .useForever
    yield never

  def run: IO[Unit] =
    serve.handleErrorWith(error => IO.consoleForIO.errorln(s"scala-http4s: $error") *> IO(sys.exit(1)))
