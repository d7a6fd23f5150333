// The contract's service as JSON on Ktor. The launcher has checked the settings in the environment.
package dev.rpcbench.ktor

import io.ktor.serialization.jackson.jackson
import io.ktor.server.application.Application
import io.ktor.server.application.install
import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.netty.Netty
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.request.receive
import io.ktor.server.response.respond
import io.ktor.server.routing.post
import io.ktor.server.routing.route
import io.ktor.server.routing.routing
import java.io.IOException
import kotlin.system.exitProcess

// How long open connections may take to finish their calls after SIGTERM, in milliseconds.
private const val DRAIN = 2000L

private fun Application.echo() {
    install(ContentNegotiation) {
        jackson { strict() }
    }
    routing {
        route("/rpcbench.v1.Echo") {
            post("/Text") { call.respond(TextReply(call.receive<TextRequest>().text)) }
            post("/Record") { call.respond(RecordReply(call.receive<RecordRequest>().record)) }
            post("/Dto") { call.respond(DtoReply(call.receive<DtoRequest>().dto)) }
            post("/Tree") { call.respond(TreeReply(call.receive<TreeRequest>().tree)) }
        }
    }
}

fun main() {
    val server =
        embeddedServer(
            Netty,
            configure = {
                connector {
                    host = System.getenv("RPCBENCH_HOST")
                    port = System.getenv("RPCBENCH_PORT").toInt()
                }
                shutdownGracePeriod = 0
                shutdownTimeout = DRAIN
            },
            module = Application::echo,
        )
    try {
        server.start(wait = true)
    } catch (error: IOException) {
        System.err.println("kotlin-ktor: $error")
        exitProcess(1)
    }
}
