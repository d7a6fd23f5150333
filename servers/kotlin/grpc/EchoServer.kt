// The contract's gRPC service on grpc-kotlin. The launcher has checked the settings in the environment.
package dev.rpcbench.grpc

import dev.rpcbench.v1.DtoReply
import dev.rpcbench.v1.DtoRequest
import dev.rpcbench.v1.EchoGrpcKt.EchoCoroutineImplBase
import dev.rpcbench.v1.RecordReply
import dev.rpcbench.v1.RecordRequest
import dev.rpcbench.v1.TextReply
import dev.rpcbench.v1.TextRequest
import dev.rpcbench.v1.TreeReply
import dev.rpcbench.v1.TreeRequest
import dev.rpcbench.v1.dtoReply
import dev.rpcbench.v1.recordReply
import dev.rpcbench.v1.textReply
import dev.rpcbench.v1.treeReply
import io.grpc.Server
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder
import java.io.File
import java.io.IOException
import java.net.InetSocketAddress
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.system.exitProcess

/** How long calls in flight may take after SIGTERM. */
private const val DRAIN_SECONDS = 2L

private class Echo : EchoCoroutineImplBase() {
    override suspend fun text(request: TextRequest): TextReply = textReply { echo = request.text }

    override suspend fun record(request: RecordRequest): RecordReply =
        recordReply { if (request.hasRecord()) echo = request.record }

    override suspend fun dto(request: DtoRequest): DtoReply = dtoReply { if (request.hasDto()) echo = request.dto }

    override suspend fun tree(request: TreeRequest): TreeReply = treeReply { if (request.hasTree()) echo = request.tree }
}

private fun stop(server: Server) {
    server.shutdown()
    if (!server.awaitTermination(DRAIN_SECONDS, TimeUnit.SECONDS)) {
        server.shutdownNow()
    }
}

fun main() {
    val address = InetSocketAddress(System.getenv("RPCBENCH_HOST"), System.getenv("RPCBENCH_PORT").toInt())
    // java-grpc's executor receives calls; coroutines run on Dispatchers.Default, the library's default. Both have a thread
    // per CPU.
    val executor =
        ForkJoinPool(
            Runtime.getRuntime().availableProcessors(),
            ForkJoinPool.defaultForkJoinWorkerThreadFactory,
            null,
            true,
        )
    val builder = NettyServerBuilder.forAddress(address).addService(Echo()).executor(executor)
    System.getenv("RPCBENCH_TLS_CERT")?.let { certificate ->
        // With BoringSSL (in Netty's tcnative), which grpc-netty-shaded includes and prefers.
        builder.useTransportSecurity(File(certificate), File(System.getenv("RPCBENCH_TLS_KEY")))
    }
    val server = builder.build()
    try {
        server.start()
    } catch (error: IOException) {
        // Netty reports that it failed; the cause says why.
        System.err.println("kotlin-grpc: cannot listen on $address: ${error.cause ?: error}")
        exitProcess(1)
    }
    Runtime.getRuntime().addShutdownHook(thread(start = false) { stop(server) })
    server.awaitTermination()
}
