// The contract's service as JSON on Ktor. The launcher has checked the settings in the environment.
package dev.rpcbench.ktor

import io.ktor.http.ContentType
import io.ktor.serialization.kotlinx.serialization
import io.ktor.server.application.Application
import io.ktor.server.application.install
import io.ktor.server.engine.EngineConnectorBuilder
import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.engine.sslConnector
import io.ktor.server.netty.Netty
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.request.receive
import io.ktor.server.response.respond
import io.ktor.server.routing.post
import io.ktor.server.routing.route
import io.ktor.server.routing.routing
import java.io.File
import java.net.BindException
import java.security.KeyStore
import kotlin.system.exitProcess
import kotlinx.serialization.DeserializationStrategy
import kotlinx.serialization.StringFormat
import kotlinx.serialization.json.Json

/** Password of the certificate's file, from the contract. */
private val PASSWORD = "rpcbench".toCharArray()

private val json = Json {
    ignoreUnknownKeys = true
    // Absent members are left out of a reply.
    explicitNulls = false
}

/**
 * Reads into a [kotlinx.serialization.json.JsonElement] first, since the direct reader accepts objects without commas between their
 * members: https://github.com/Kotlin/kotlinx.serialization/issues/2287
 */
private object StrictJson : StringFormat by json {
    override fun <T> decodeFromString(deserializer: DeserializationStrategy<T>, string: String): T =
        json.decodeFromJsonElement(deserializer, json.parseToJsonElement(string))
}

private fun Application.echo() {
    install(ContentNegotiation) { serialization(ContentType.Application.Json, StrictJson) }
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
                // How long calls in flight may take after SIGTERM, for each group of threads in milliseconds.
                shutdownGracePeriod = 500
                shutdownTimeout = 1500
                val certificate = System.getenv("RPCBENCH_TLS_PKCS12")
                // For clients that start with HTTP/2; the port still accepts HTTP/1.1. With TLS, ALPN chooses.
                enableH2c = certificate == null && System.getenv("RPCBENCH_PROTOCOL") == "json-h2c"
                val bind: EngineConnectorBuilder.() -> Unit = {
                    host = System.getenv("RPCBENCH_HOST")
                    port = System.getenv("RPCBENCH_PORT").toInt()
                }
                if (certificate == null) {
                    connector(bind)
                } else {
                    val keys = KeyStore.getInstance(File(certificate), PASSWORD)
                    sslConnector(keys, "server", { PASSWORD }, { PASSWORD }, bind)
                }
            },
            module = Application::echo,
        )
    try {
        server.start(wait = true)
    } catch (error: BindException) {
        System.err.println("kotlin-ktor: $error")
        exitProcess(1)
    }
}
