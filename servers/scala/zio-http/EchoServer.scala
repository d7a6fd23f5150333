// The contract's service as JSON on zio-http. The launcher has checked the settings in the environment.
package dev.rpcbench.ziohttp

import com.github.plokhotnyuk.jsoniter_scala.core.{
  JsonReaderException,
  JsonValueCodec,
  ReaderConfig,
  readFromArray,
  writeToArray
}
import zio.*
import zio.http.*
import zio.http.netty.NettyConfig

object EchoServer extends ZIOAppDefault:
  /** How long calls in flight may take after SIGTERM. */
  private val DrainTimeout = 2.seconds

  /** Maximum size of a body in bytes; the default is 100 KiB. */
  private val MaxBody = 10 * 1024 * 1024

  /** Length of the accept queue; the default is 100. */
  private val Backlog = 4096

  /** Error messages don't quote the request, as they would by default. */
  private val ReaderSettings = ReaderConfig.withAppendHexDumpToParseException(false)

  private val JsonType = Headers(Header.ContentType(MediaType.application.json))

  /** Warnings and errors only. */
  override val bootstrap =
    Runtime.removeDefaultLoggers ++
      Runtime.addLogger(ZLogger.default.map(java.lang.System.err.println(_)).filterLogLevel(_ >= LogLevel.Warning))

  private def unary[Q: JsonValueCodec, R: JsonValueCodec](method: String)(answer: Q => R): Route[Any, Throwable] =
    Method.POST / "rpcbench.v1.Echo" / method -> handler { (call: Request) =>
      call.body.asArray.mapAttempt { body =>
        val request = readFromArray[Q](body, ReaderSettings)
        Response(headers = JsonType, body = Body.fromArray(writeToArray(answer(request))))
      }
    }

  private def refuse(error: Throwable): Response = error match
    case _: JsonReaderException | _: IllegalArgumentException => Response.badRequest(error.getMessage)
    case _                                                    => Response.internalServerError

  private val echo: Routes[Any, Response] =
    Routes(
      unary("Text")((request: TextRequest) => TextReply(request.text)),
      unary("Record")((request: RecordRequest) => RecordReply(request.record)),
      unary("Dto")((request: DtoRequest) => DtoReply(request.dto)),
      unary("Tree")((request: TreeRequest) => TreeReply(request.tree))
    ).handleError(refuse)

  private val config = Server.Config.default
    .binding(sys.env("RPCBENCH_HOST"), sys.env("RPCBENCH_PORT").toInt)
    .disableRequestStreaming(MaxBody)
    .copy(soBacklog = Backlog)
    .gracefulShutdownTimeout(DrainTimeout)

  def run =
    Server
      .serve(echo)
      .provide(ZLayer.succeed(config), ZLayer.succeed(NettyConfig.defaultWithFastShutdown), Server.customized)
